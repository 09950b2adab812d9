// Module that a page of an older build gets in place of one that is gone: it goes where somebody was going, or loads itself anew, once per
// path in ten seconds.
const between = 10_000;
const key = `tertulia-reload ${location.pathname}`;
const last = Number(sessionStorage.getItem(key));
const fields = [...document.querySelectorAll("input, textarea")];
const typed = fields.some((field) => field.value !== field.defaultValue);
if (!typed && Date.now() - last > between) {
  sessionStorage.setItem(key, String(Date.now()));
  // The router's own, whose navigation needs the module.
  const going = window.__reactRouterDataRouter?.state.navigation.location;
  if (going) location.assign(going.pathname + going.search + going.hash);
  else location.reload();
  await new Promise(() => {});
}

// The router calls what the module that is gone had.
export const clientLoader = () => null;
export const clientAction = () => null;

export default function Stale() {
  return "Este sitio se ha actualizado mientras esta página estaba abierta. Recárgala para seguir.";
}
