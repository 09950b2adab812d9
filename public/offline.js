// The page without a line: what waits to be sent, and what was kept to be read. The service worker (sw.js) answers.
const when = new Intl.DateTimeFormat("es", { dateStyle: "medium", timeStyle: "short" });
const asked = (what) => fetch(`/sin-conexion/${what}`).then((answer) => (answer.ok ? answer.json() : []), () => []);

function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function showPending() {
  const pending = await asked("pendientes");
  const list = document.getElementById("lista-pendientes");
  list.replaceChildren(
    ...pending.map(({ id, at, text, files, problem }) => {
      const discard = made("button", { type: "button", className: "button small" }, "Descartar");
      discard.onclick = async () => {
        await asked(`descartar?id=${id}`);
        await showPending();
      };
      const again = made("a", { className: "button small", href: `/conversation/chat?empieza=${encodeURIComponent(text)}` }, "Escribirlo de nuevo");
      return made(
        "li",
        { className: "row" },
        made(
          "div",
          {},
          made("p", { className: "title whitespace-pre-wrap", dir: "auto" }, text || files.join(", ")),
          made("p", { className: "line" }, [when.format(at), ...files].join(" · ")),
          ...(problem ? [made("p", { className: "error" }, problem)] : []),
        ),
        made("span", { className: "end" }, ...(problem ? [again, " "] : []), discard),
      );
    }),
  );
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
          made("a", { className: "title", href: path }, title.replace(/ · Tertulia$/, "")),
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
  const left = await asked("enviar");
  said.textContent = left === 0 ? "Todo está enviado." : "Todavía no se ha podido enviar todo.";
  await showPending();
}

document.getElementById("enviar").onclick = send;
addEventListener("online", send);
navigator.serviceWorker?.addEventListener("message", showPending);
void showPending();
void showCopies();
