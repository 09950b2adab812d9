import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { says, startWritingModel } from "../support/writing-model.ts";

let server: TestServer;
let models: Awaited<ReturnType<typeof startWritingModel>>;
let ana: Browser;
/** Page of a room for who has opened it, and its address for guests. */
let page: string;
let room: string;
beforeAll(async () => {
  models = await startWritingModel();
  server = await startServer({ OPENAI_BASE_URL: models.url });
  ana = new Browser(server.url);
  await ana.signUp("Ana");
});
afterAll(async () => {
  await server.stop();
  models.stop();
});

const list = "/conversation/sala";
/** Opens a room by the form, and answers its page. */
async function open(fields: Record<string, string> = {}): Promise<string> {
  const given = { name: "Historia, 3.º B", hours: "2", people: "30", messages: "600", budget: "", ...fields };
  const html = await ana.html(list);
  const assistantId = /name="assistantId"[\s\S]*?<option value="([\w-]{36})"/.exec(html)?.[1] ?? "";
  const answer = await ana.submit(list, list, { assistantId, showsTexts: "", ...given });
  return answer.headers.get("Location") ?? readable(await answer.text());
}
const addressOf = async (of: string) =>
  new URL(/href="([^"]*\/sala\/[a-z\d]+)"/.exec(await ana.html(of))?.[1] ?? "").pathname;
const enter = async (name = "", at = room) => {
  const guest = new Browser(server.url);
  const answer = await guest.submit(at, at, { does: "enter", name });
  expect(answer.status).toBe(303);
  return guest;
};
const ask = (guest: Browser, content: string, at = room) => guest.submit(at, at, { does: "ask", content });

it("a teacher opens a room and prints its sheet", async () => {
  expect(readable(await ana.html(list))).toContain("Hace falta un asistente");
  await ana.change("/conversation/assistant/crear", { name: "Profe", purpose: "Repasar el tema 3" });
  page = await open();
  expect(page).toMatch(/^\/conversation\/sala\/[\w-]{36}$/);
  expect(readable(await ana.html(page))).toMatch(/Abierta hasta .* Han entrado 0 de 30 personas/);
  room = await addressOf(page);
  const sheet = await ana.html(`${page}/hoja`);
  expect(sheet).toContain('<svg role="img" aria-label="Código QR de la sala"');
  expect(readable(sheet)).toContain(room);
  expect(readable(sheet)).toContain("Para preguntar a Profe, una inteligencia artificial. Repasar el tema 3");
  expect(readable(await ana.html(list))).toContain("0 personas · 0 preguntas");
});

it("refuses numbers that are none, and keeps what was typed", async () => {
  expect(await open({ people: "muchas" })).toContain("El número de personas: 1 como poco.");
  expect(await open({ people: "5000" })).toContain("El número de personas: 500 como mucho.");
});

it("a guest joins without account and reads a streamed reply", async () => {
  const stranger = new Browser(server.url);
  const entrance = await stranger.html(room);
  expect(entrance).not.toContain("<script");
  expect(readable(entrance)).toContain("Nadie más lee lo que escribas: Ana solo ve el nombre que pongas");
  const guest = await enter("Luz");
  // Its hours may go over midnight.
  expect(readable(await guest.html(room))).toMatch(/Luz, hablas con Profe\. Abierta por Ana hasta (?:hoy|mañana)/);
  const letGo = models.hold();
  const asked = await ask(guest, says("El río **Miño** pasa por Lugo, y después por Ourense y Tui."));
  expect(asked.headers.get("Location")).toMatch(new RegExp(`^${room}#m-`));
  const growing = await guest.beginningOf(room, "<strong>Miño</strong>");
  letGo();
  expect(growing.split('class="live"')[1]).not.toContain("Tui");
  expect(growing).toContain("Detener");
  await expect.poll(async () => readable(await guest.html(room))).toContain("Ourense y Tui.");
  const done = await guest.html(room);
  expect(done).toContain("<strong>Miño</strong>");
  expect(done).not.toContain("<script");
  expect(done.indexOf("<textarea")).toBeGreaterThan(done.indexOf("Ourense"));
});

it("each has a conversation of their own, in any browser", async () => {
  const [one, two] = [await enter("Nico"), await enter()];
  await ask(one, says("Solo para Nico"));
  await expect.poll(async () => readable(await one.html(room))).toContain("Solo para Nico");
  expect(readable(await two.html(room))).not.toContain("Solo para Nico");
  const light = await one.fetch(room, { headers: { "Save-Data": "on" } });
  const html = await light.text();
  expect(readable(html)).toContain("Solo para Nico");
  expect(html).not.toContain('rel="stylesheet"');
  const seen = readable(await ana.html(page));
  expect(seen).toContain("Nico una pregunta");
  expect(seen).toMatch(/Persona \d entró/);
  expect(await ana.html(page)).not.toContain("/persona/");
});

it("shows a drawing in a reply only to its guest", async () => {
  const guest = await enter();
  await ask(guest, says("Así es:\n\n```dot\ndigraph { a -> b }\n```\n\nYa está."));
  await expect.poll(async () => readable(await guest.html(room))).toContain("Ya está.");
  const picture = /src="(\/sala\/[^"]+\/dibujo\/[^"]+)"/.exec(await guest.html(room))?.[1] ?? "";
  const drawn = await guest.fetch(picture);
  expect(drawn.headers.get("Content-Type")).toContain("image/svg+xml");
  expect((await new Browser(server.url).fetch(picture)).status).toBe(404);
});

it("keeps a question sent after the room closes for copying", async () => {
  const closing = await open();
  const at = await addressOf(closing);
  const guest = await enter("", at);
  const form = hiddenFields(await guest.html(at), at);
  await ana.submit(closing, closing, { does: "close" });
  const late = readable(await (await guest.post(at, { ...form, does: "ask", content: "Llego tarde" })).text());
  expect(late).toContain("Esto no se ha preguntado");
  expect(late).toContain("Llego tarde");
});

it("a room says why it accepts no question", async () => {
  const full = await open({ messages: "1" });
  const at = await addressOf(full);
  const guest = await enter("", at);
  await ask(guest, says("Uno"), at);
  await expect.poll(async () => readable(await guest.html(at))).toContain("se ha llegado a su límite");
  expect(readable(await new Browser(server.url).html(at))).toContain("se ha llegado a su límite");
  await ana.submit(full, full, { does: "close" });
  expect(readable(await new Browser(server.url).html(at))).toContain("La sala está cerrada.");
  await ana.submit(full, full, { does: "open" });
  await ana.change(full, { does: "change", messages: "3", hours: "24" });
  expect(readable(await guest.html(at))).toContain("En la sala quedan 2 mensajes");
  const nothing = await ask(guest, " ", at);
  expect(nothing.status).toBe(422);
  expect(readable(await nothing.text())).toContain("Escribe");
});

it("no address leads to anything but a room", async () => {
  const code = room.split("/").at(-1);
  for (const path of [
    `..%2Froom%2F${code}`,
    "..%2F..%2Fgroup",
    `${code}%3Fx`,
    ".%2F",
    "%E2%82%AC",
    "a%0d%0ax",
    "corto",
  ]) {
    for (const who of [ana, new Browser(server.url)]) {
      expect((await who.fetch(`/sala/${path}`)).status, path).toBe(404);
      const token = hiddenFields(await who.html(room), room).formToken ?? "";
      const sent = await who.post(`/sala/${path}`, { formToken: token, does: "enter", name: "X" });
      expect(sent.status, path).toBe(404);
    }
  }
  // Other pages too: a value in a path stays a value.
  for (const path of [
    "/compartido/..%2Fhouse",
    "/compartido/..%2Fchat",
    `${list}/..%2Fhouse/hoja`,
    "/auth/invitacion/..%2F..%2Fapi%2Fchat",
  ]) {
    expect((await ana.fetch(path)).status, path).not.toBe(500);
    expect(readable(await ana.html(path)), path).not.toMatch(/Invalid Date|undefined/);
  }
  expect(readable(await ana.html("/admin/group"))).not.toContain(" X ");
  const capitals = await new Browser(server.url).fetch(room.toUpperCase().replace("/SALA/", "/sala/"));
  expect(capitals.headers.get("Location")).toBe(room);
});

it("a guest who rejoins or asks too soon loses nothing", async () => {
  const guest = await enter("Luz");
  const form = hiddenFields(await guest.html(room), room);
  const again = await guest.post(room, { ...form, does: "enter", name: "Otra" });
  expect(again.headers.get("Location")).toBe(room);
  expect(readable(await guest.html(room))).toContain("Luz, hablas con Profe");
  const letGo = models.hold();
  await ask(guest, says("Despacio"));
  const early = await guest.post(room, { ...form, key: "otra", does: "ask", content: "¿Y esto?" });
  letGo();
  const told = readable(await early.text());
  expect(told).toContain("Espera a que termine la respuesta en curso");
  expect(told).toContain("¿Y esto?");
  guest.cookies.delete("sala");
  const late = await guest.post(room, { ...form, does: "ask", content: "Se me fue la sesión" });
  expect(readable(await late.text())).toContain("Se me fue la sesión");
});

it("leaving deletes what was written, after a question", async () => {
  const guest = await enter("Luz");
  await ask(guest, says("Adiós"));
  expect(readable(await guest.html(`${room}?salir=1`))).toContain("no se puede recuperar");
  const left = await guest.follow(await guest.submit(`${room}?salir=1`, room, { does: "leave" }));
  expect(readable(await left.text())).toContain("Has salido, y lo que escribiste se ha borrado.");
  expect(readable(await guest.html(room))).toContain("Cómo quieres que se te llame");
});

it("the host reads guest messages only if announced on entry", async () => {
  const read = await open({ name: "Taller", showsTexts: "si" });
  const at = await addressOf(read);
  expect(readable(await new Browser(server.url).html(at))).toContain("Ana leerá lo que escribas");
  const guest = await enter("Iria", at);
  await ask(guest, says("Una respuesta"), at);
  await expect.poll(async () => readable(await guest.html(at))).toContain("Una respuesta");
  const written = /href="([^"]+\/persona\/[^"]+)"/.exec(await ana.html(read))?.[1] ?? "";
  expect(readable(await ana.html(written))).toContain("Una respuesta");
  expect(readable(await ana.html(`${read}?eliminar=1`))).toContain("Eliminar la sala y todo lo escrito en ella");
  await ana.submit(`${read}?eliminar=1`, read, { does: "delete" });
  expect((await guest.fetch(at)).status).toBe(404);
});

it("shows why a person may not open one, without a form", async () => {
  const luis = new Browser(server.url);
  await luis.signUp("Luis");
  await luis.change("/conversation/assistant/crear", { name: "Otro" });
  const html = await luis.html(list);
  expect(readable(html)).toContain("Aquí solo abre salas quien administra.");
  expect(html).not.toContain('name="assistantId"');
});
