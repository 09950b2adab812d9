import { statSync } from "node:fs";
import type { LLMock } from "@copilotkit/aimock";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { longReply, longThought, startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let mock: LLMock;
let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  mock = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });
  browser = new Browser(server.url);
  await browser.signUp();
});
afterAll(async () => {
  await server.stop();
  await mock.stop();
});

it("a conversation page stays within limits of script and requests", async () => {
  const html = await browser.html(await browser.say("Hola"));
  const scripts = [...new Set([...html.matchAll(/"(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path))];
  const weigh = (paths: unknown[]) =>
    paths.reduce<number>((sum, path) => sum + statSync(`build/client${path}.br`).size, 0);
  const react = scripts.filter((path) => path?.includes("/react-"));
  expect(react).toHaveLength(1);
  expect(weigh(scripts)).toBeLessThanOrEqual(112_000);
  // 14.0: the hashes in the names of files make some bytes more or less.
  expect(weigh(scripts) - weigh(react)).toBeLessThan(14_050);
  // The page itself, its styles and its icons.
  expect(scripts.length + 3).toBeLessThanOrEqual(12);
});

describe("several conversations at once", () => {
  it("can be moved only when a project exists", async () => {
    const somebody = new Browser(server.url);
    await somebody.signUp();
    await somebody.say("Hola");
    const offered = async () => readable(await somebody.html("/conversation/chat/organizar"));
    expect(await offered()).toContain("Archivar");
    expect(await offered()).not.toContain("Mover");
    await somebody.submit("/conversation/project/crear", "/conversation/project/crear", { name: "Obras" });
    expect(await offered()).toContain("Mover");
    // Browsers without `:has` show the buttons before anything is marked.
    const page = "/conversation/chat/organizar";
    const none = await somebody.submit(page, page, { intent: "archive" });
    expect(readable(await none.text())).toContain("Marca al menos una conversación.");
  });
});

it("lists all 130 projects, also for moving a conversation", async () => {
  const somebody = new Browser(server.url);
  const email = await somebody.signUp();
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ email, password });
  const token = await (await fetch(`${server.url}/v1/auth/signin`, { method: "POST", headers, body })).text();
  const signed = { ...headers, Authorization: `Bearer ${token}` };
  for (let n = 0; n < 130; n++) {
    const project = JSON.stringify({ name: `Proyecto ${n}` });
    await fetch(`${server.url}/v1/api/project`, { method: "POST", headers: signed, body: project });
  }
  const namesIn = (html: string) => new Set(html.match(/Proyecto \d+/g));
  const main = (html: string) => html.slice(html.indexOf("<main"));
  const first = main(await somebody.html("/conversation/project"));
  const next = /href="(\/conversation\/project\?cursor=[^"]+)"/.exec(first)?.[1] ?? "";
  const second = main(await somebody.html(next.replaceAll("&amp;", "&")));
  expect(new Set([...namesIn(first), ...namesIn(second)]).size).toBe(130);
  expect(first + second).not.toContain("De otra persona");
  const chat = await somebody.say("Hola");
  expect(namesIn(main(await somebody.html(`${chat}/mover`))).size).toBe(130);
});

describe("a document without script", () => {
  it("streams the page, the growing reply and the end", async () => {
    const chat = await browser.say("Una respuesta lenta");
    const parts = await readParts(await browser.fetch(chat));
    expect(parts[0]).toContain('data-status="streaming"');
    expect(parts[0]).toContain("Detener");
    expect(parts[0]).not.toContain("Frase número 5");
    expect(parts[0]).not.toContain("</html>");
    const words = parts.map((part) => readable(part).match(/número|larga/g) ?? []);
    expect(words.filter(({ length }) => length > 0).length).toBeGreaterThan(25);
    expect(readable(parts.join(""))).toContain(longReply);
    // How the network cuts the rest does not matter.
    const rest = parts.slice(words.findLastIndex(({ length }) => length > 0)).join("");
    expect(rest).toContain('data-status="complete"');
    expect(rest).toContain("Regenerar");
    expect(parts.join("")).toMatch(/<\/html>\s*$/);
  });

  it("flushes each piece when it is compressed, too", async () => {
    const chat = await browser.say("Una respuesta lenta");
    // fetch decompresses as it reads, so parts that arrive apart were flushed apart.
    const answer = await browser.fetch(chat, { headers: { "Accept-Encoding": "br" } });
    expect(answer.headers.get("Content-Encoding")).toBe("br");
    expect((await readParts(answer)).length).toBeGreaterThan(10);
  });

  it("reloaded in mid-reply shows what is written and goes on", async () => {
    const chat = await browser.say("Una respuesta lenta");
    const first = await browser.fetch(chat);
    const reader = first.body?.getReader();
    let seen = "";
    while (!seen.includes("Frase número 6")) seen += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    const again = readable(await browser.html(chat));
    expect(again.match(/Frase número \d+ de la respuesta larga/g)).toEqual(
      longReply.match(/Frase número \d+ de la respuesta larga/g),
    );
  });

  it("ends with the failure and «Reintentar» where it happened", async () => {
    const chat = await browser.say("error 500");
    const html = await browser.html(chat);
    expect(readable(html)).toContain("El proveedor del modelo tiene un problema (500).");
    expect(html).toContain("Reintentar");
    const later = await browser.html(chat);
    expect(later).toContain('data-status="failed"');
    expect(later).toContain("Reintentar");
  });

  it("stops with «Detener» and keeps the text", async () => {
    const chat = await browser.say("Una respuesta lenta");
    const [page = ""] = await readParts(await browser.fetch(chat), 3);
    const action = /id="detener"[^>]* action="(\/conversation\/reply\/[^"]+)"/.exec(page)?.[1] ?? "";
    const answer = await browser.post(action, { ...hiddenFields(page, action), intent: "stop" });
    expect(answer.headers.get("Location")).toBe(chat);
    const stopped = await browser.html(chat);
    expect(stopped).toContain('data-status="stopped"');
    expect(readable(stopped)).toContain("Detenida.");
    expect(readable(stopped)).toContain("Continuar");
  });

  it("shows a text browser no button that comes too late", async () => {
    const chat = await browser.say("Una respuesta lenta");
    const whole = await (await browser.fetch(chat, { headers: { "User-Agent": "w3m/0.5.3" } })).text();
    expect(readable(whole)).not.toContain("Detener");
    expect(readable(whole)).toContain("Regenerar");
  });

  it("shows text browsers a link to the reasoning", async () => {
    const chat = await browser.say("Quiero que pienses");
    const asText = { headers: { "User-Agent": "w3m/0.5.3" } };
    for (const what of ["streamed", "finished"]) {
      const page = await (await browser.fetch(chat, asText)).text();
      expect(page, what).not.toContain('<details class="reasoning');
      expect(readable(page), what).not.toContain("Paso 3 de lo que pienso");
      const link = /<a href="([^"]+)"[^>]*>Ver el razonamiento<\/a>/.exec(page)?.[1] ?? "";
      expect(readable(await browser.html(link)), what).toContain(longThought);
    }
  });

  it("shows only the beginning of a long reasoning", async () => {
    const chat = await browser.say("Quiero que pienses mucho");
    await browser.html(chat);
    const page = await browser.html(chat);
    expect(readable(page)).toContain("Ver el razonamiento entero");
    expect(page.length).toBeLessThan(60_000);
    const link = /<a href="([^"]+)"[^>]*>Ver el razonamiento entero<\/a>/.exec(page)?.[1] ?? "";
    expect(readable(await browser.html(link))).toContain("Y el último paso.");
  });

  it("shows the finished conversation the same as it was streamed", async () => {
    const chat = await browser.say("Una respuesta con formato");
    const streamed = /<div class="live"><div class="prose" dir="auto">([\s\S]*?)<\/div><div class="ended"/.exec(
      await browser.html(chat),
    )?.[1];
    const stored = /<div class="prose" dir="auto">([\s\S]*?)<\/div><div class="actions"/.exec(
      await browser.html(chat),
    )?.[1];
    expect(stored).toContain("hljs-string");
    expect(streamed?.trim()).toBe(stored?.trim());
  });
});

describe("the composer", () => {
  it("sent twice makes one message", async () => {
    const fields = {
      ...hiddenFields(await browser.html("/conversation/chat"), "/conversation/chat"),
      content: "Doble clic",
    };
    const [one, two] = await Promise.all([
      browser.post("/conversation/chat", fields),
      browser.post("/conversation/chat", fields),
    ]);
    expect(one.headers.get("Location")).toMatch(/^\/conversation\/chat\/.+/);
    expect(two.headers.get("Location")).toBe(one.headers.get("Location"));
    const html = await browser.html(one.headers.get("Location") ?? "");
    expect(html.match(/data-role="user"/g)).toHaveLength(1);
  });

  it.each([
    ["   ", "Escribe un mensaje antes de enviarlo."],
    ["x".repeat(33_000), "El mensaje puede tener 32.000 caracteres como mucho."],
  ])("refuses what it can't send with a sentence and keeps it", async (content, sentence) => {
    const answer = await browser.submit("/conversation/chat", "/conversation/chat", { content });
    const html = await answer.text();
    expect(answer.status).toBe(422);
    expect(readable(html)).toContain(sentence);
    expect(html).toContain(`>${content}</textarea>`);
  });

  it("keeps the files of a refused message for the next", async () => {
    const page = "/conversation/chat";
    const send = async (content: string, files: File[], fields = hiddenFields) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields(await browser.html(page), page))) body.append(name, value);
      body.append("content", content);
      for (const file of files) body.append("files", file);
      return browser.fetch(page, { method: "POST", body });
    };
    const refused = await send("x".repeat(33_000), [new File(["Apuntes"], "apuntes.txt")]);
    expect(refused.status).toBe(422);
    const html = await refused.text();
    expect(html).toContain("apuntes.txt");
    expect(html).toContain(`>${"x".repeat(33_000)}</textarea>`);
    expect(await browser.html(page)).toContain("apuntes.txt");
    const sent = await send("Mira mis apuntes", []);
    const chat = await browser.html(sent.headers.get("Location") ?? "");
    expect(/<article[^>]*data-role="user"[\s\S]*?<\/article>/.exec(chat)?.[0]).toContain("apuntes.txt");
    expect(await browser.html(page)).not.toContain("apuntes.txt");
  });

  it("keeps an unsent draft on the server until sending", async () => {
    const { formToken = "" } = hiddenFields(await browser.html("/conversation/chat"), "/conversation/chat");
    await browser.post("/conversation/draft", { formToken, content: "Un borrador a medias" });
    expect(await browser.html("/conversation/chat")).toContain(">Un borrador a medias</textarea>");
    await browser.say("Ya está");
    expect(await browser.html("/conversation/chat")).not.toContain("Un borrador a medias");
  });

  it("edits a message as another version and steps between them", async () => {
    const chat = await browser.say("Pregunta primera");
    await browser.html(chat);
    const edit = /href="([^"]+editar=[^"]+)"/.exec(await browser.html(chat))?.[1]?.replaceAll("&amp;", "&") ?? "";
    const page = await browser.html(edit);
    expect(page).toContain(">Pregunta primera</textarea>");
    await browser.post(chat, {
      ...hiddenFields(page, chat.slice(0, 30)),
      ...hiddenFields(page, chat),
      content: "Pregunta segunda",
    });
    const html = await browser.html(chat);
    expect(readable(html)).toContain("Pregunta segunda");
    expect(readable(html)).not.toContain("Pregunta primera");
    expect(readable(html)).toContain("2/2");
    const back = [...html.matchAll(/href="([^"]+version=[^"&]+)"/g)].map(([, href]) => href ?? "")[0] ?? "";
    const older = await browser.html(back.replaceAll("&amp;", "&"));
    expect(readable(older)).toContain("Pregunta primera");
    // The version that is shown is the one that is shared.
    const sharing = /href="([^"]+\/compartir[^"]*)"/.exec(older)?.[1] ?? "";
    await browser.submit(sharing, sharing, {});
    const shared = /\/compartido\/[\w-]+/.exec(await browser.html(sharing))?.[0] ?? "";
    const published = readable(await browser.html(shared));
    expect(published).toContain("Pregunta primera");
    expect(published).not.toContain("Pregunta segunda");
    // And printed, and put into a document.
    const dialog = await browser.html(/href="([^"]+\/exportar[^"]*)"/.exec(older)?.[1] ?? "");
    const linked = (what: string) => dialog.match(`href="([^"]+/${what}[^"]*)"`)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const printed = readable(await browser.html(linked("imprimir")));
    expect([printed.includes("Pregunta primera"), printed.includes("Pregunta segunda")]).toEqual([true, false]);
    const odt = await browser.fetch(linked("descargar\\?formato=odt"));
    const content = strFromU8(unzipSync(new Uint8Array(await odt.arrayBuffer()))["content.xml"] ?? new Uint8Array());
    expect([content.includes("Pregunta primera"), content.includes("Pregunta segunda")]).toEqual([true, false]);
  });
});

describe("an edit that is refused", () => {
  it("remains an edit when sent again, without losing the draft", async () => {
    const chat = await browser.say("Pregunta que se edita");
    await browser.html(chat);
    const { formToken = "" } = hiddenFields(await browser.html(chat), chat);
    await browser.post("/conversation/draft", {
      formToken,
      chatId: chat.split("/").at(-1) ?? "",
      content: "Borrador valioso",
    });
    const edit = /href="([^"]+editar=[^"]+)"/.exec(await browser.html(chat))?.[1]?.replaceAll("&amp;", "&") ?? "";
    const refused = await (
      await browser.post(chat, { ...hiddenFields(await browser.html(edit), chat), content: "  " })
    ).text();
    await browser.post(chat, { ...hiddenFields(refused, chat), content: "Pregunta mejor" });
    const html = await browser.html(chat);
    expect(readable(html)).toContain("2/2");
    expect(html.match(/data-role="user"/g)).toHaveLength(1);
    expect(html).toContain(">Borrador valioso</textarea>");
  });
});

describe("a chat", () => {
  it("is named, pinned, renamed and deleted", async () => {
    const chat = await browser.say("Hola");
    await browser.html(chat);
    await until(async () => readable(await browser.html(chat)).includes("Charla de prueba"));
    await browser.submit(chat, chat, { intent: "pin", pinned: "1" });
    expect(readable(await browser.html(chat))).toContain("Fijados");

    const dialog = await browser.html(`${chat}/editar`);
    expect(dialog).toMatch(/<dialog class="dialog" open=""/);
    const refused = await browser.submit(`${chat}/editar`, `${chat}/editar`, { title: "" });
    expect(refused.status).toBe(422);
    expect(readable(await refused.text())).toContain("Falta el título.");
    await browser.submit(`${chat}/editar`, `${chat}/editar`, { title: "Otro <b>título</b>" });
    expect(readable(await browser.html(chat))).toContain("Otro <b>título</b>");

    expect(readable(await browser.html(`${chat}/eliminar`))).toContain("No se puede deshacer");
    const gone = await browser.follow(await browser.submit(`${chat}/eliminar`, `${chat}/eliminar`, {}));
    expect(readable(await gone.text())).toContain("Conversación eliminada.");
    expect((await browser.fetch(chat)).status).toBe(404);
  });

  it("shows the last messages and a link to earlier ones", async () => {
    const chat = await browser.say("Mensaje 0");
    await browser.html(chat);
    for (let n = 1; n < 27; n++) {
      await browser.say(`Mensaje ${n}`, chat);
      await browser.html(chat);
    }
    const html = await browser.html(chat);
    expect(html.match(/<article/g)).toHaveLength(50);
    expect(readable(html)).not.toContain("Mensaje 1 ");
    const earlier = /href="([^"]+antes=[^"]+)"/.exec(html)?.[1] ?? "";
    const before = readable(await browser.html(earlier));
    expect(before).toContain("Mensaje 1 ");
    expect(before).toContain("Volver al final");
  });

  it("shows HTML in a message as plain text", async () => {
    const attack = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) "><script>alert(1)</script>';
    const chat = await browser.say(attack);
    const html = await browser.html(chat);
    expect(html).not.toContain("<img src=x");
    expect(html).not.toContain("<script>alert");
    expect(readable(html)).toContain(attack);
  });
});

describe("server-sent events", () => {
  it("stream a whole reply and resume at the given offset", async () => {
    const chat = await browser.say("Una respuesta lenta");
    const id = await replyId(chat);
    const answer = await browser.html(`/conversation/stream/${id}`);
    // Before the model says anything: a proxy waits for the first byte only so long.
    expect(answer.slice(0, 3)).toBe(":\n\n");
    const events = parseEvents(answer);
    expect(events.at(-1)?.event).toMatch(/end|title/);
    expect(shown(events)).toBe(longReply);

    const half = events[Math.floor(events.length / 2)];
    const rest = await eventsAfter(id, half?.id ?? "");
    expect(rest.every((event) => offset(event) >= offset(half))).toBe(true);
    expect(shown(rest)).toContain("Frase número 40");
    // A page of an older build says only how much of the text it has.
    const old = await eventsAfter(id, String(offset(half)));
    expect(shown(old)).toBe(shown(rest));
  });

  it("stream reasoning apart from the text and resume within it", async () => {
    const id = await replyId(await browser.say("Quiero que pienses"));
    const events = parseEvents(await browser.html(`/conversation/stream/${id}`));
    expect(events[0]).toMatchObject({ event: "thinking", data: "Razonando…" });
    expect(thoughtIn(events)).toBe(longThought);
    expect(events.find(({ event }) => event === "thought-end")?.data).toMatch(/^Razonó \d+ s$/);
    expect(shown(events)).toBe("Son cuarenta y dos . Lo he contado.");

    const inThought = await eventsAfter(id, "0.20");
    expect(thoughtIn(inThought)).toBe(longThought.slice(20));
    expect(inThought.some(({ event }) => event === "thinking")).toBe(false);
    const inText = await eventsAfter(id, "1.10");
    expect(thoughtIn(inText)).toBe("");
    expect(shown(inText)).toContain("Lo he contado.");
  });

  const eventsAfter = async (id: string, place: string) =>
    parseEvents(
      await (await browser.fetch(`/conversation/stream/${id}`, { headers: { "Last-Event-ID": place } })).text(),
    );
  const offset = (event: { id: string } | undefined) => Number(event?.id.split(".")[1]);
  const thoughtIn = (events: { event: string; data: unknown }[]) =>
    events.map(({ event, data }) => (event === "thought" ? data : "")).join("");

  type Block = { closed: string; open: string; rest: string };
  /** Text that a page shows after these events, as followed by the browser. */
  function shown(events: { event: string; data: unknown }[]): string {
    let closed = "";
    let open = "";
    let rest = "";
    for (const { event, data } of events) {
      if (event === "text") rest += data;
      if (event !== "block") continue;
      const block = data as Block;
      closed += block.closed;
      ({ open, rest } = block);
    }
    return readable(`${closed} ${open} ${rest}`).trim();
  }

  async function replyId(chat: string): Promise<string> {
    const page = (await readParts(await browser.fetch(chat), 3)).join("");
    return [...page.matchAll(/data-message-id="([^"]+)" data-role="assistant"/g)].at(-1)?.[1] ?? "";
  }
});

function parseEvents(text: string): { id: string; event: string; data: unknown }[] {
  return text
    .split("\n\n")
    .filter((part) => part.includes("event:"))
    .map((part) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1] ?? "";
      return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
    });
}

async function readParts(response: Response, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const parts: string[] = [];
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    parts.push(decoder.decode(bytes, { stream: true }));
    if (parts.length >= count) break;
  }
  return parts;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
