// Shows the page of a server of tools (MCP Apps) in a frame that can reach nothing of this site, and carries its messages (JSON-RPC).
const place = document.querySelector("[data-app-frame]");
const { input, result, asks, locale } = JSON.parse(place.dataset.appFrame);
const form = document.querySelector("[data-app-call]");

const frame = document.createElement("iframe");
frame.setAttribute("sandbox", "allow-scripts");
frame.title = place.dataset.title;
frame.src = place.dataset.source;
frame.className = "app-frame";
place.replaceChildren(frame);
place.hidden = false;

const heightAtMost = 2000;
const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");

/** Calls a tool of the same server, which the person is asked about where it changes something. */
async function call({ name = "", arguments: given = {} }) {
  const text = JSON.stringify(given);
  const question = `La aplicación quiere usar «${name}» con estos datos:\n\n${text.slice(0, 1000)}\n\n¿La dejas?`;
  const agreed = asks.includes(name) && window.confirm(question);
  if (asks.includes(name) && !agreed) throw new Error("La persona no ha querido.");
  const body = new URLSearchParams({ tool: name, input: text, agreed: agreed ? "1" : "" });
  body.set("formToken", form.elements.formToken.value);
  const answer = await fetch(place.dataset.call, { method: "POST", body });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.message ?? "La herramienta no ha contestado.");
  return resultOf(said);
}

const resultOf = ({ text, structured, failed }) => ({
  content: [{ type: "text", text }],
  ...(structured && { structuredContent: JSON.parse(structured) }),
  ...(failed && { isError: true }),
});

const requests = {
  "ui/initialize": ({ protocolVersion }) => ({
    protocolVersion: protocolVersion ?? "2026-01-26",
    hostInfo: { name: "tertulia", version: "1" },
    hostCapabilities: { serverTools: {}, openLinks: {} },
    hostContext: { theme: "dark", locale, displayMode: "inline", availableDisplayModes: ["inline"] },
  }),
  ping: () => ({}),
  "tools/call": call,
  "ui/request-display-mode": () => ({ mode: "inline" }),
  "ui/open-link": ({ url }) => {
    const there = URL.parse(String(url));
    if (there?.protocol !== "https:" || !window.confirm(`¿Abrir ${there.href.slice(0, 300)}?`)) return { isError: true };
    window.open(there.href, "_blank", "noopener,noreferrer");
    return {};
  },
};

window.addEventListener("message", async ({ source, data }) => {
  if (source !== frame.contentWindow || data?.jsonrpc !== "2.0") return;
  const { id, method, params = {} } = data;
  if (method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: JSON.parse(input) } });
    send({ method: "ui/notifications/tool-result", params: resultOf(result) });
  }
  const height = method === "ui/notifications/size-changed" ? Number(params.height) : 0;
  if (height > 0) frame.style.blockSize = `${Math.min(height, heightAtMost)}px`;
  if (id === undefined || typeof method !== "string") return;
  const handle = Object.hasOwn(requests, method) ? requests[method] : undefined;
  if (!handle) return send({ id, error: { code: -32601, message: "Aquí no se puede." } });
  try {
    send({ id, result: await handle(params) });
  } catch (error) {
    send({ id, error: { code: -32000, message: error.message } });
  }
});
