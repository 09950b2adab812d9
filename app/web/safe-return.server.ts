/** A local path to return to after sign-in; /user for anything that a browser might read as another site (open redirects). */
export function safeReturn(volver: FormDataEntryValue | null): string {
  if (typeof volver !== "string" || !/^\/[a-z0-9]/i.test(volver) || /[^!-~]|\\/.test(volver)) return "/user";
  // A query may hold addresses.
  const [path = ""] = volver.split(/[?#]/, 1);
  return /@|%2f|%5c|\/\/|\.\./i.test(path) ? "/user" : volver;
}
