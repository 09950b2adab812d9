/** A local path to return to after sign-in; /user for anything that a browser might read as another site (open redirects). */
export function safeReturn(volver: FormDataEntryValue | null): string {
  if (typeof volver !== "string" || !/^\/[a-z0-9]/i.test(volver)) return "/user";
  return /[^!-~]|[\\@]|%2f|%5c|\/\/|\.\./i.test(volver) ? "/user" : volver;
}
