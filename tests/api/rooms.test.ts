import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../app/process/limits.ts";
import { type Account, type Api, openApi, parseChunks, textOf } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { says, startWritingModel } from "../support/writing-model.ts";

type Room = { id: string; code: string; isOpen: boolean; joined: number; asked: number; spent: number };
type Guests = { items: { name: string }[] };
type Conversation = {
  code: string;
  refusal: string | null;
  left: number;
  items: { id: string; role: string; content: string; status: string; sources: { title: string; fileId: unknown }[] }[];
};

let models: Awaited<ReturnType<typeof startWritingModel>>;
beforeAll(async () => {
  models = await startWritingModel();
});
afterAll(() => models.stop());

const hour = 60 * 60_000;
const inAnHour = () => new Date(Date.now() + hour).toISOString();

for (const engine of await ruleEngines()) {
  describe(`rooms, on ${engine.name}`, () => {
    let api: Api;
    let [admin, ana] = [{}, {}] as Account[] as [Account, Account];
    let assistantId: string;
    let writerId: string;
    let fileId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      [admin, ana] = [await api.signUp("Admin"), await api.signUp("Ana")];
      const json = { name: "Escribano", provider: "openai-compatible", externalId: "x", baseUrl: models.url };
      const made = await api.call("POST", "/api/model", {
        token: admin.token,
        json: { ...json, inputPrice: 1_000, outputPrice: 1_000 },
      });
      const modelId = (made.body as { id: string }).id;
      const paper = await api.upload(ana.token, [
        new File(["El examen es el 4 de junio en el aula magna."], "examen.txt"),
      ]);
      const secret = await api.upload(ana.token, [
        new File(["El examen secreto trata de la fotosíntesis."], "secreto.txt"),
      ]);
      [fileId] = [paper, secret].map(({ body }) => (body as { items: { id: string }[] }).items[0]?.id) as [string];
      const assistants = await Promise.all(
        [null, modelId].map((id) =>
          api.call("POST", "/api/assistant", {
            token: ana.token,
            json: { name: "Profe", instructions: "Ayuda sin dar la solución.", modelId: id, fileIds: [fileId] },
          }),
        ),
      );
      [assistantId, writerId] = assistants.map(({ body }) => (body as { id: string }).id) as [string, string];
    });
    afterAll(() => api.close());

    const opens = (by: "nobody" | "admins" | "all") =>
      api.call("PATCH", "/api/house", { token: admin.token, json: { opensRooms: by } });
    const open = (more: object = {}, { token } = ana) =>
      api.call("POST", "/api/room", {
        token,
        json: { name: "3.º B", assistantId, endsAt: inAnHour(), ...more },
      });
    const opened = async (more: object = {}) => {
      await opens("all");
      const { status, body, text } = await open(more);
      expect(status, text).toBe(201);
      return body as Room;
    };
    const enter = (code: string, name = "") => api.call("POST", `/api/guest/room/${code}`, { json: { name } });
    const entered = async ({ code }: Room, name = "") => ((await enter(code, name)).body as { token: string }).token;
    const as = (guest: string, method: string, path: string, json?: object) =>
      api.call(method, `/api/guest${path}`, { headers: { "Room-Guest": guest }, json });
    /** Asks, and reads the reply to its end. */
    const ask = async (guest: string, content: string) => {
      const asked = await as(guest, "POST", "/message", { content });
      if (asked.status !== 201) return asked;
      const { messageId } = asked.body as { messageId: string };
      return as(guest, "POST", `/message/${messageId}/follow`);
    };
    const read = async (guest: string) => (await as(guest, "GET", "/conversation")).body as Conversation;

    it("are opened by those whom the house lets", async () => {
      expect((await open()).status).toBe(403);
      await opens("nobody");
      expect((await open({}, admin)).text).toContain("En esta casa no se abren salas");
      const room = await opened();
      await opens("admins");
      expect((await enter(room.code)).status).toBe(403);
      const { body } = await api.call("GET", `/api/guest/room/${room.code}`);
      expect(body).toMatchObject({ refusal: "La sala está cerrada. Pregunta a quien te dio el enlace." });
    });

    it("answer guests without accounts in separate chats from room documents", async () => {
      const room = await opened();
      await api.converse(ana.token, { content: "El examen secreto lo guardo en el cajón azul" });
      const [luz, nico] = [await entered(room, "Luz"), await entered(room)];
      const answer = textOf(parseChunks((await ask(luz, "¿Cuándo es el examen?")).text));
      expect(answer).toContain("4 de junio");
      expect(answer).not.toMatch(/secreto|cajón|fotosíntesis/);
      expect(textOf(parseChunks((await ask(luz, "¿De qué trata el examen secreto?")).text))).not.toMatch(
        /cajón|fotosíntesis/,
      );
      const seen = await read(luz);
      expect(seen.items.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
      expect(seen.items[1]?.sources[0]).toMatchObject({ title: "examen.txt", fileId: null });
      expect((await read(nico)).items).toEqual([]);
      expect((await as(nico, "POST", `/message/${seen.items[1]?.id}/follow`)).status).toBe(404);
      const again = await as(luz, "POST", `/message/${seen.items[1]?.id}/follow`);
      expect(again.headers.get("X-Accel-Buffering")).toBe("no");
      expect((await as(luz, "POST", "/message", { content: "Más", key: "\0" })).status).toBe(201);
    });

    it("look into no document that was not chosen for them", async () => {
      const room = await opened({ fileIds: [] });
      const answer = textOf(parseChunks((await ask(await entered(room), "¿Cuándo es el examen?")).text));
      expect(answer).not.toContain("4 de junio");
      const other = await open({ fileIds: ["de otra"] });
      expect(other.text).toContain("Alguno de esos documentos no es de ese asistente.");
    });

    it("give their model the assistant's instructions and no tools", async () => {
      const room = await opened({ assistantId: writerId });
      await ask(await entered(room), says("Piensa en la mitad."));
      const [system] = models.asked.at(-1) ?? [];
      expect(system?.content).toContain("Ayuda sin dar la solución.");
      expect(system?.content).not.toContain("herramientas");
    });

    it("enforce the limits on people, messages and money", async () => {
      const small = await opened({ people: 1, messages: 1 });
      const guest = await entered(small);
      expect((await enter(small.code)).text).toContain("En la sala ya no cabe nadie más");
      const free = await open({ budget: 0 });
      expect(free.text).toContain("mayor que cero");
      await ask(guest, "Uno");
      expect((await ask(guest, "Dos")).text).toContain("se ha llegado a su límite");
      expect(await read(guest)).toMatchObject({ left: 0, refusal: expect.stringContaining("límite") });
      const dear = await opened({ assistantId: writerId, budget: 0.000001 });
      const other = await entered(dear);
      await ask(other, says("Caro"));
      expect((await ask(other, says("Más"))).status).toBe(403);
      const { body } = await api.call("GET", `/api/room/${dear.id}`, { token: ana.token });
      expect((body as Room).spent).toBeGreaterThan(0);
    });

    it("take somebody who has pressed twice once", async () => {
      const room = await opened({ people: 2 });
      const key = randomBytes(24).toString("base64url");
      const press = (code: string, more: object = {}) =>
        api.call("POST", `/api/guest/room/${code}`, { json: { name: "Eva", key, ...more } });
      const pressed = await Promise.all([press(room.code), press(room.code), press(room.code)]);
      expect(pressed.map(({ status, text }) => [status, text])).toEqual(
        pressed.map(() => [201, expect.stringContaining(key)]),
      );
      const { items } = (await api.call("GET", `/api/room/${room.id}/guests`, { token: ana.token })).body as Guests;
      expect(items.map(({ name }) => name)).toEqual(["Eva"]);
      await entered(room);
      expect((await press(room.code)).status).toBe(201);
      expect((await enter(room.code)).status).toBe(403);
      // Nor does it open another room, or a short one anything.
      await press((await opened()).code);
      expect(await read(key)).toMatchObject({ code: room.code });
      expect((await press(room.code, { key: "abc" })).status).toBe(422);
    });

    it("allow more simultaneous questions than an account does", async () => {
      const room = await opened({ assistantId: writerId });
      const count = limits.repliesAtOnce + 4;
      const guests = await Promise.all(Array.from({ length: count }, (_, n) => entered(room, `Persona ${n}`)));
      const release = models.hold();
      const asked = await Promise.all(
        guests.map((guest) => as(guest, "POST", "/message", { content: says("Hola a todos") })),
      );
      expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 201));
      // Nor do they take a place of who has opened it.
      const own = await api.start(ana.token, { content: "Hola" });
      expect(own.type).toBe("start");
      release();
      const replies = await Promise.all(
        asked.map(({ body }, n) =>
          as(guests[n] ?? "", "POST", `/message/${(body as { messageId: string }).messageId}/follow`),
        ),
      );
      expect(new Set(replies.map(({ text }) => textOf(parseChunks(text))))).toEqual(new Set(["Hola a todos"]));
      const { body } = await api.call("GET", `/api/room/${room.id}`, { token: ana.token });
      expect(body).toMatchObject({ joined: count, asked: count });
    });

    it("are closed at once, with what is being written there", async () => {
      const room = await opened({ assistantId: writerId });
      const guest = await entered(room);
      const release = models.hold();
      const { body } = await as(guest, "POST", "/message", { content: says("Una respuesta bastante larga") });
      await api.call("PATCH", `/api/room/${room.id}`, { token: ana.token, json: { isOpen: false } });
      release();
      await as(guest, "POST", `/message/${(body as { messageId: string }).messageId}/follow`);
      const seen = await read(guest);
      expect(seen.items.at(-1)?.status).toBe("stopped");
      expect(seen.refusal).toContain("cerrada");
      expect((await ask(guest, "¿Sigo?")).status).toBe(403);
      expect((await enter(room.code)).status).toBe(403);
    });

    it("end at the set time and stay readable afterwards", async () => {
      const room = await opened();
      const guest = await entered(room);
      await ask(guest, "Hola");
      const past = Date.now() - hour;
      await api.db.updateTable("rooms").set({ endsAt: past }).where("id", "=", room.id).execute();
      expect((await ask(guest, "¿Sigo?")).text).toContain("ya ha terminado");
      expect((await read(guest)).items).toHaveLength(2);
      const ended = await open({ endsAt: new Date(past).toISOString() });
      expect(ended.text).toContain("Ese momento ya ha pasado.");
      const longer = { endsAt: new Date(Date.now() + 50 * hour).toISOString() };
      await api.call("PATCH", `/api/room/${room.id}`, { token: ana.token, json: longer });
      const session = await api.db
        .selectFrom("sessions")
        .where("roomId", "=", room.id)
        .select("refreshExpiresAt")
        .executeTakeFirstOrThrow();
      expect(Number(session.refreshExpiresAt)).toBeGreaterThan(Date.now() + 70 * hour);
    });

    it("show guests' texts to the host only when announced", async () => {
      const quiet = await opened();
      const told = await opened({ showsTexts: true });
      for (const room of [quiet, told]) await ask(await entered(room, "Luz"), "Esto es mío");
      const [hidden, seen] = await Promise.all(
        [quiet, told].map(async ({ id }) => {
          const { body } = await api.call("GET", `/api/room/${id}/guests`, { token: ana.token });
          const [guest] = (body as { items: { id: string; name: string; asked: number }[] }).items;
          expect(guest).toMatchObject({ name: "Luz", asked: 1 });
          return api.call("GET", `/api/room/${id}/guests/${guest?.id}`, { token: ana.token });
        }),
      );
      expect(hidden?.status).toBe(403);
      expect(seen?.text).toContain("Esto es mío");
      const change = await api.call("PATCH", `/api/room/${quiet.id}`, { token: ana.token, json: { showsTexts: true } });
      expect(change.text).toContain("Se decide al abrir la sala");
      // Administrators look after rooms, and do not look into them.
      expect((await api.call("GET", `/api/room/${told.id}`, { token: admin.token })).status).toBe(200);
      expect((await api.call("GET", `/api/room/${told.id}/guests`, { token: admin.token })).status).toBe(404);
    });

    it("leave nothing in the host's search, lists or exports", async () => {
      const room = await opened({ showsTexts: true });
      const guest = await entered(room);
      await ask(guest, "Un murciélago cervantino");
      const chat = await api.db
        .selectFrom("chats")
        .innerJoin("sessions", "sessions.id", "chats.sessionId")
        .where("sessions.roomId", "=", room.id)
        .select("chats.id")
        .executeTakeFirstOrThrow();
      for (const { token } of [ana, admin]) {
        for (const path of [`/api/chat/${chat.id}`, `/api/chat/${chat.id}/messages`, `/api/chat/${chat.id}/export`]) {
          expect((await api.call("GET", path, { token })).status, path).toBe(404);
        }
        for (const path of ["/api/chat?limit=100", "/api/message?limit=100", "/api/search?q=murciélago"]) {
          expect((await api.call("GET", path, { token })).text, path).not.toContain("cervantino");
        }
      }
    });

    it("keep guest tokens and account tokens apart", async () => {
      const room = await opened();
      const guest = await entered(room);
      for (const headers of [{ Authorization: `Bearer ${guest}` }, { "X-Api-Key": guest }]) {
        expect((await api.call("GET", "/api/chat", { headers })).status).toBe(401);
      }
      expect((await as(ana.token, "GET", "/conversation")).status).toBe(401);
      expect((await as("", "GET", "/conversation")).status).toBe(401);
      const sessions = await api.call("GET", "/auth/sessions", { token: ana.token });
      expect((sessions.body as { items: unknown[] }).items).toHaveLength(1);
      await api.call("DELETE", "/auth/sessions", { token: ana.token });
      expect((await as(guest, "GET", "/conversation")).status).toBe(200);
    });

    it("store a resent message once and answer questions again", async () => {
      const room = await opened({ assistantId: writerId });
      const guest = await entered(room);
      const send = () => as(guest, "POST", "/message", { content: says("Una vez"), key: "k" });
      const [one, two] = [await send(), await send()];
      expect(one.body).toEqual(two.body);
      await as(guest, "POST", `/message/${(one.body as { messageId: string }).messageId}/follow`);
      const [question] = (await read(guest)).items;
      const again = await as(guest, "POST", "/message", { again: question?.id });
      expect(again.status, again.text).toBe(201);
      await as(guest, "POST", `/message/${(again.body as { messageId: string }).messageId}/follow`);
      expect((await read(guest)).items).toHaveLength(2);
    });

    it("hide training for the host's groups from guests", async () => {
      const group = await api.call("POST", "/api/group", { token: admin.token, json: { name: "Claustro" } });
      const groupId = (group.body as { id: string }).id;
      await api.call("POST", "/api/member", { token: admin.token, json: { groupId, userId: ana.id } });
      const training = { title: "Claustro", kind: "knowledge", content: "La solución del examen es cuarenta y siete." };
      for (const one of [training, { title: "Tono", kind: "instruction", content: "Tutea al claustro." }]) {
        const json = { ...one, enabled: true, groupIds: [groupId] };
        const made = await api.call("POST", "/api/training", { token: admin.token, json });
        expect(made.status, made.text).toBe(201);
      }
      const guest = await entered(await opened());
      expect(textOf(parseChunks((await ask(guest, "¿Cuál es la solución del examen?")).text))).not.toContain(
        "cuarenta",
      );
      await ask(await entered(await opened({ assistantId: writerId })), says("Hola"));
      expect(JSON.stringify(models.asked.at(-1))).not.toContain("claustro");
      expect(textOf(await api.converse(ana.token, { content: "¿Cuál es la solución del examen?" }))).toContain(
        "cuarenta",
      );
    });

    it("switch to another assistant for guests already present", async () => {
      const room = await opened({ assistantId: writerId });
      const guest = await entered(room);
      await ask(guest, says("Uno"));
      const modelId = (
        (await api.call("GET", `/api/assistant/${writerId}`, { token: ana.token })).body as { modelId: string }
      ).modelId;
      const json = { name: "Otra", instructions: "Contesta en verso.", modelId };
      const other = (await api.call("POST", "/api/assistant", { token: ana.token, json })).body as { id: string };
      await api.call("PATCH", `/api/room/${room.id}`, { token: ana.token, json: { assistantId: other.id } });
      await ask(guest, says("Dos"));
      expect(String(models.asked.at(-1)?.[0]?.content)).toContain("Contesta en verso.");
    });

    it("are deleted during replies and questions without errors", async () => {
      for (let round = 0; round < 4; round++) {
        const room = await opened({ assistantId: writerId });
        const guests = await Promise.all(Array.from({ length: 8 }, () => entered(room)));
        const release = models.hold();
        await Promise.all(
          guests.slice(0, 6).map((guest) => as(guest, "POST", "/message", { content: says("Se acaba") })),
        );
        release();
        const asks = guests.slice(4).map((guest) => as(guest, "POST", "/message", { content: says("Y esto") }));
        const gone = api.call("DELETE", `/api/room/${room.id}`, { token: ana.token });
        const answers = await Promise.all([gone, ...asks, enter(room.code), enter(room.code)]);
        const statuses = answers.map(({ status }) => status);
        expect(statuses.filter((status) => status >= 500)).toEqual([]);
        expect(statuses[0]).toBe(204);
      }
    });

    it("stop replies in progress on leaving and deletion", async () => {
      const room = await opened({ assistantId: writerId });
      const [one, two] = [await entered(room), await entered(room)];
      const release = models.hold();
      const begun = await Promise.all(
        [one, two].map((guest) => as(guest, "POST", "/message", { content: says("Largo") })),
      );
      const ids = begun.map(({ body }) => (body as { messageId: string }).messageId);
      expect(ids.map((id) => api.services.runs.get(id) !== undefined)).toEqual([true, true]);
      await as(one, "DELETE", "");
      await api.call("DELETE", `/api/room/${room.id}`, { token: ana.token });
      await expect.poll(() => ids.map((id) => api.services.runs.get(id))).toEqual([undefined, undefined]);
      release();
    });

    it("count what a reply has cost whose process has died", async () => {
      const room = await opened({ assistantId: writerId });
      const guest = await entered(room);
      await ask(guest, says("Antes"));
      const reply = (await read(guest)).items.at(-1)?.id ?? "";
      const spent = async () =>
        Number(((await api.call("GET", `/api/room/${room.id}`, { token: ana.token })).body as Room).spent);
      const before = await spent();
      const left = {
        status: "streaming" as const,
        heartbeatAt: 1,
        finishedAt: null,
        promptLength: 40_000,
        writer: "muerto",
      };
      await api.db.updateTable("messages").set(left).where("id", "=", reply).execute();
      await api.services.runs.adopt();
      await expect.poll(async () => (await read(guest)).items.at(-1)?.status).not.toBe("streaming");
      expect((await spent()) - before).toBeGreaterThan(9);
    });

    it("hide the model from guests, even in error messages", async () => {
      const json = { name: "Roto", provider: "openai-compatible", externalId: "x", baseUrl: "http://127.0.0.1:9/v1" };
      const broken = (await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string };
      const own = { name: "Roto", instructions: "x", modelId: broken.id };
      const assistant = (await api.call("POST", "/api/assistant", { token: ana.token, json: own })).body as {
        id: string;
      };
      const guest = await entered(await opened({ assistantId: assistant.id }));
      const answer = await ask(guest, "Hola");
      const sentence = "No se ha podido contestar. Reinténtalo, o avisa a quien te dio el enlace.";
      expect(parseChunks(answer.text).at(-1)).toEqual({
        ...{ type: "end", status: "failed", error: sentence },
        usage: { inputTokens: 0, outputTokens: 0 },
      });
      const { items } = await read(guest);
      expect(items[1]).toMatchObject({ status: "failed", error: sentence, modelId: null, inputTokens: null });
      const costs = await api.call("GET", "/api/usage/costs", { token: ana.token });
      expect(costs.text).not.toContain("3.º B");
    });

    it("are left with everything that was written", async () => {
      const room = await opened();
      const guest = await entered(room);
      await ask(guest, "Hola");
      expect((await as(guest, "DELETE", "")).status).toBe(204);
      expect((await as(guest, "GET", "/conversation")).status).toBe(401);
      const left = await api.db.selectFrom("sessions").where("roomId", "=", room.id).selectAll().execute();
      expect(left).toEqual([]);
    });

    it("delete all conversations and count in the host's plan", async () => {
      const room = await opened({ assistantId: writerId });
      const guest = await entered(room);
      const before = await used();
      await ask(guest, says("Cuenta"));
      expect((await used()) - before).toBe(1);
      await api.call("DELETE", `/api/room/${room.id}`, { token: ana.token });
      expect((await as(guest, "GET", "/conversation")).status).toBe(401);
      const chats = await api.db.selectFrom("chats").where("title", "=", "3.º B").where("sessionId", "is not", null);
      expect(
        await chats
          .innerJoin("sessions as s", "s.id", "chats.sessionId")
          .where("s.roomId", "=", room.id)
          .selectAll("chats")
          .execute(),
      ).toEqual([]);
    });

    const used = async () => {
      const rows = await api.db.selectFrom("usage").where("userId", "=", ana.id).select("messages").execute();
      return rows.reduce((sum, { messages }) => sum + Number(messages), 0);
    };
  });
}
