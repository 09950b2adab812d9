// The page without a line: what waits to be sent, and what was kept to be read. The service worker (sw.js) answers.
const when = new Intl.DateTimeFormat("es", { dateStyle: "medium", timeStyle: "short" });
const asked = (what) =>
  fetch(`/sin-conexion/${what}`).then(
    (answer) => (answer.ok ? answer.json() : []),
    () => [],
  );

function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function pendingRow({ id, at, text, files, problem }) {
  const discard = made("button", { type: "button", className: "button small" }, "Descartar");
  discard.onclick = async () => {
    if (!confirm("¿Descartar este mensaje? No se podrá recuperar.")) return;
    await asked(`descartar?id=${id}`);
    await showPending();
  };
  const href = `/conversation/chat?empieza=${encodeURIComponent(text)}`;
  const again = made("a", { className: "button small", href }, "Escribirlo de nuevo");
  return made(
    "li",
    { className: "row stacked" },
    made(
      "div",
      {},
      ...(problem ? [made("p", { className: "error" }, problem)] : []),
      ...(text ? [made("p", { className: "title brief", dir: "auto" }, text)] : []),
      made("p", { className: "line" }, [when.format(at), ...files].join(" · ")),
    ),
    made("span", { className: "end" }, ...(problem && text ? [again, " "] : []), discard),
  );
}

async function showPending() {
  const pending = await asked("pendientes");
  document.getElementById("lista-pendientes").replaceChildren(...pending.map(pendingRow));
  document.getElementById("sin-pendientes").hidden = pending.length > 0;
  document.getElementById("enviar").hidden = pending.length === 0;
}

async function showCopies() {
  const copies = await asked("copias");
  document.getElementById("lista-copias").replaceChildren(
    ...copies.map(({ path, title, at }) =>
      made(
        "li",
        { className: "row" },
        made(
          "div",
          {},
          made("a", { className: "title", href: path }, title.replace(/ · [^·]*$/, "")),
          made("p", { className: "line" }, `Guardado ${when.format(at)}`),
        ),
      ),
    ),
  );
  document.getElementById("sin-copias").hidden = copies.length > 0;
}

async function send() {
  const said = document.getElementById("enviado");
  said.textContent = "Enviando…";
  await asked("enviar");
  const left = await asked("pendientes");
  said.textContent = left.length === 0 ? "Todo está enviado." : "Todavía no se ha podido enviar todo.";
  await showPending();
}

// In ms.
const askEvery = 3000;
// Whether somebody was led here, and not by a link: then they are led back.
let ledHere = location.pathname !== "/sin-conexion" || location.hash === "#pendientes";

/** Asks for the server until it answers; then sends what waits and goes back to where one was. */
async function untilBack() {
  const answers = await fetch("/health", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!answers) {
    ledHere = true;
    return setTimeout(untilBack, askEvery);
  }
  if (!ledHere) return;
  await send();
  if ((await asked("pendientes")).length > 0) return;
  if (location.pathname !== "/sin-conexion") location.reload();
  else if (history.length > 1) history.back();
}

document.getElementById("enviar").onclick = send;
addEventListener("online", send);
navigator.serviceWorker?.addEventListener("message", showPending);
void showPending();
void showCopies();
void untilBack();
