// What a page of an older build gets in place of a module that is gone: it loads itself anew, once per path in ten seconds.
const between = 10_000;
const key = `tertulia-reload ${location.pathname}`;
const last = Number(sessionStorage.getItem(key));
if (Date.now() - last > between) {
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
  await new Promise(() => {});
}

export default function Stale() {
  return "Tertulia se ha actualizado mientras esta página estaba abierta. Recárgala para seguir.";
}
