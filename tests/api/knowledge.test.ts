import { readFileSync } from "node:fs";
import type { LLMock } from "@copilotkit/aimock";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chunk, Source } from "../../app/replies/chunk.ts";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startModelServer, startRecorder } from "../support/model-server.ts";
import { password } from "../support/password.ts";

type Prompt = { parts: { title: string; text: string }[]; turns: { role: string; content: string; images: number }[] };

const document = (name: string) => new File([readFileSync(new URL(`../documents/${name}`, import.meta.url))], name);
const picture = async () =>
  new File(
    [
      new Uint8Array(
        await sharp({ create: { width: 30, height: 30, channels: 3, background: "#a00" } })
          .png()
          .toBuffer(),
      ),
    ],
    "foto.png",
  );

for (const engine of await ruleEngines()) {
  describe(`what a model is given on ${engine.name}`, () => {
    let api: Api;
    let mock: LLMock;
    let recorder: Awaited<ReturnType<typeof startRecorder>>;
    let admin: Account;
    let ana: Account;
    const models: Record<string, string> = {};
    let local: string;
    beforeAll(async () => {
      mock = await startModelServer();
      recorder = await startRecorder(mock.url);
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      const create = async (name: string, more: object) => {
        const baseUrl = `${recorder.url}/v1`;
        const answer = await api.call("POST", "/api/model", {
          token: admin.token,
          json: { name, externalId: "modelo-de-prueba", baseUrl, apiKey: "clave", acceptsImages: true, ...more },
        });
        models[name] = (answer.body as { id: string }).id;
      };
      await create("openai", { provider: "openai-compatible" });
      await create("anthropic", { provider: "anthropic" });
      await create("ciego", { provider: "openai-compatible", acceptsImages: false });
      await create("corto", { provider: "openai-compatible", contextWindow: 2000, maxOutputTokens: 500 });
      const listed = (await api.call("GET", "/api/model", { token: ana.token })).body as {
        items: { id: string; provider: string }[];
      };
      local = listed.items.find(({ provider }) => provider === "local")?.id ?? "";
    });
    afterAll(async () => {
      await api.close();
      recorder.stop();
      await mock.stop();
    });

    const upload = async (file: File, fields = {}) =>
      ((await api.upload(ana.token, [file], { temporary: "1", ...fields })).body as { items: { id: string }[] })
        .items[0]?.id ?? "";
    const say = (content: string, more = {}) => api.converse(ana.token, { content, modelId: models.openai, ...more });
    const start = (chunks: Chunk[]) =>
      chunks.find((chunk) => chunk.type === "start") as Extract<Chunk, { type: "start" }>;
    const sources = (chunks: Chunk[]): Source[] =>
      chunks.flatMap((chunk) => (chunk.type === "sources" ? chunk.sources : []));
    const prompt = async (chunks: Chunk[], token = ana.token) =>
      api.call("GET", `/api/message/${start(chunks).messageId}/prompt`, { token });
    /** Requests to the model server, on the wire. */
    const received = (words: string) => {
      return recorder.bodies.findLast((body) => body.includes(words) && !body.includes("Pon título")) ?? "";
    };

    it("sends images and PDFs in OpenAI's and Anthropic's formats", async () => {
      const fileIds = [await upload(await picture()), await upload(document("informe.pdf"))];
      for (const [name, image] of [
        ["openai", /"type":"image_url","image_url":\{"url":"data:image\/jpeg;base64,\/9j\//],
        ["anthropic", /"type":"image","source":\{"type":"base64","media_type":"image\/jpeg","data":"\/9j\//],
      ] as const) {
        const chunks = await say(`¿Cuántos kilos hubo? (${name})`, { modelId: models[name], fileIds });
        const body = received(`(${name})`);
        expect(body).toMatch(image);
        expect(body).toContain("340 kilos de tomate");
        expect(body).toContain("Documento adjunto «informe.pdf»: es la fuente [1].");
        expect(sources(chunks)).toEqual([expect.objectContaining({ n: 1, kind: "file", title: "informe.pdf" })]);
      }
    });

    it("tells a model without vision that an image exists", async () => {
      await say("¿Qué se ve? (ciego)", { modelId: models.ciego, fileIds: [await upload(await picture())] });
      expect(received("(ciego)")).toContain("Imagen adjunta «foto.png», que no puedes ver");
      expect(received("(ciego)")).not.toContain("base64");
    });

    it("keeps what was sent, for whoever asked", async () => {
      const chunks = await say("Resume esto (guardado)", { fileIds: [await upload(document("carta.docx"))] });
      const { parts, turns } = (await prompt(chunks)).body as Prompt;
      const sent = JSON.parse(received("(guardado)")) as { messages: { role: string; content: string }[] };
      expect(parts.map(({ text }) => text).join("\n\n")).toBe(sent.messages[0]?.content);
      expect(turns.map(({ role, content }) => ({ role, content }))).toEqual(sent.messages.slice(1));
      expect((await prompt(chunks, admin.token)).status).toBe(404);
    });

    it("carries a document to later questions, except on another branch", async () => {
      const first = await say("Mira esto", { fileIds: [await upload(document("carta.docx"))] });
      const { chatId } = start(first);
      await say("¿Quién revisó la humedad? (sigue)", { chatId });
      expect(received("(sigue)")).toContain("Fermín Ochoa");
      await say("Otra cosa desde cero (rama)", { chatId, parentId: null });
      expect(received("(rama)")).not.toContain("Fermín Ochoa");
    });

    it("gives relevant passages of a long document, or its beginning", async () => {
      const long = Array.from({ length: 400 }, (_, n) => `Capítulo ${n}: la gallina número ${n} puso huevos azules.`);
      long[300] = "Capítulo 300: el zorro Baltasar robó la llave del gallinero.";
      const fileIds = [await upload(new File([`PRINCIPIO\n${long.join("\n\n")}`], "cuento.txt"))];
      const asked = await say("¿Quién robó la llave?", { modelId: models.corto, fileIds });
      const sent = received("¿Quién robó la llave?");
      expect(sent).toContain("zorro Baltasar");
      expect(sent).not.toContain("gallina número 5 puso");
      expect(sources(asked).every(({ kind, position }) => kind === "file" && typeof position === "number")).toBe(true);
      await say("Resúmelo (principio)", { modelId: models.corto, fileIds });
      expect(received("(principio)")).toContain("PRINCIPIO");
    });

    it("gives a passage with its surroundings when they fit", async () => {
      const project = await api.call("POST", "/api/project", { token: ana.token, json: { name: "Cuentos" } });
      const { id: projectId } = project.body as { id: string };
      const long = Array.from({ length: 100 }, (_, n) => `Capítulo ${n}: el pato ${n} cruzó el río.`);
      long[50] = "Capítulo 50: la nutria Eulalia escondió el farol.";
      await upload(new File([long.join("\n\n")], "patos.txt"), { projectId, temporary: "" });
      const found = sources(await say("¿Quién escondió el farol?", { projectId }));
      const last = Number(/el pato (\d+) cruzó el río\.$/.exec(found[0]?.quote ?? "")?.[1]);
      const next = `el pato ${last + 1} cruzó`;
      expect(found.some(({ quote }) => quote.includes(next))).toBe(false);
      expect(received("escondió el farol?")).toContain(next);
      expect(received("escondió el farol?")).not.toContain("el pato 5 cruzó");
    });

    it("finds documents of the project, and of no other", async () => {
      const project = async (name: string) =>
        ((await api.call("POST", "/api/project", { token: ana.token, json: { name } })).body as { id: string }).id;
      const [huerto, piso] = [await project("Huerto"), await project("Piso")];
      await upload(document("informe.pdf"), { projectId: huerto });
      const inside = await say("¿Cuánta agua gasta el riego por goteo?", { projectId: huerto });
      expect(sources(inside)).toEqual([
        expect.objectContaining({ kind: "file", title: "informe.pdf, página 3", n: 1 }),
      ]);
      expect(sources(await say("¿Y el riego por goteo?", { projectId: piso }))).toEqual([]);
      const answered = await say("¿Cuánta agua gasta el riego por goteo?", { projectId: huerto, modelId: local });
      expect(textOf(answered)).toContain("de 91 a 38 metros cúbicos");
      const berta = await api.signUp("Berta");
      const other = await api.converse(berta.token, { content: "¿Qué es el riego por goteo?", modelId: local });
      expect(sources(other)).toEqual([]);
    });

    it("lets the local assistant quote the attached document", async () => {
      const carla = await api.signUp("Carla");
      const answer = await api.upload(carla.token, [document("carta.docx")]);
      const { items } = answer.body as { items: { id: string }[] };
      const chunks = await api.converse(carla.token, { content: "Resume", modelId: local, fileIds: [items[0]?.id] });
      expect(textOf(chunks)).toContain("Estimada directora");
    });

    it("summarises messages that no longer fit and shows the summary", async () => {
      const filler = "palabra ".repeat(300);
      let chatId: string | undefined;
      for (let n = 0; n < 5; n++) {
        chatId = start(await say(`Pregunta ${n}. ${filler}`, { modelId: models.corto, chatId })).chatId;
      }
      const asked = recorder.bodies.filter((body) => body.includes("Resume la conversación que sigue"));
      expect(asked[0]).toContain("Persona: Pregunta 0.");
      const last = received("Pregunta 4");
      expect(last).toContain("Resumen de la parte anterior de esta conversación:\\nUna respuesta **breve**");
      expect(last).not.toContain("Pregunta 0.");
      const branch = (await api.call("GET", `/api/chat/${chatId}/messages`, { token: ana.token })).body as {
        items: { summary: string | null }[];
      };
      expect(branch.items.some(({ summary }) => summary?.includes("Una respuesta **breve**"))).toBe(true);
      // Everything between the summary and the question was sent as it was.
      const rows = branch.items as unknown as { content: string; summary: string | null }[];
      const after = rows.slice(rows.findLastIndex(({ summary }) => summary !== null) + 1, -1);
      for (const { content } of after) expect(last).toContain(content.slice(0, 20));
    });

    it("gives every message to the model, whole or summarised", async () => {
      const messages = Array.from({ length: 10 }, (_, n) => ({
        id: `m${n}`,
        parentId: n > 0 ? `m${n - 1}` : null,
        role: n % 2 === 0 ? "user" : "assistant",
        content: `MARCA${n}. ${"palabra ".repeat(n === 4 ? 700 : 80)}`,
      }));
      const file = new File([JSON.stringify({ id: engine.name, title: "Larga", messages })], "larga.json");
      await api.upload(ana.token, [file], {}, "/api/chat/import");
      const { items } = (await api.call("GET", "/api/chat?q=Larga", { token: ana.token })).body as {
        items: { id: string }[];
      };
      const before = recorder.bodies.length;
      await say("¿Y ahora?", { modelId: models.corto, chatId: items[0]?.id });
      const sent = recorder.bodies.slice(before).join();
      expect(messages.map((_, n) => sent.includes(`MARCA${n}.`))).toEqual(messages.map(() => true));
      expect(received("¿Y ahora?")).not.toContain("MARCA0.");
    });

    it("refuses more than eight files and foreign or missing files", async () => {
      const berta = await api.signUp("Berta");
      const answer = await api.upload(berta.token, [new File(["x"], "x.txt")]);
      const [foreign] = (answer.body as { items: { id: string }[] }).items;
      const send = (fileIds: unknown[]) =>
        api.call("POST", "/api/intelligence/conversation", { token: ana.token, json: { content: "Hola", fileIds } });
      expect((await send(Array.from({ length: 9 }, (_, n) => String(n)))).text).toContain("8 archivos como mucho");
      for (const ids of [[foreign?.id], ["nada"]]) {
        const refused = await send(ids);
        expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("ya no existe")]);
      }
    });

    it("keeps the name of a deleted file with its message", async () => {
      const fileId = await upload(new File(["Apuntes"], "apuntes.txt"));
      const { userMessageId } = start(await say("Mira", { fileIds: [fileId] }));
      await api.call("DELETE", `/api/file/${fileId}`, { token: ana.token });
      const message = await api.call("GET", `/api/message/${userMessageId}`, { token: ana.token });
      expect(message.body).toMatchObject({ attachments: [{ name: "apuntes.txt", fileId: null }] });
    });

    it("treats another file as new message, double click as one", async () => {
      const send = async (name: string, content: string) => {
        const fileIds = [await upload(new File([content], name))];
        return start(await say("Resúmelo", { fileIds, key: `clave-${engine.name}` })).messageId;
      };
      const first = await send("uno.txt", "Uno");
      expect(await send("uno.txt", "Uno")).toBe(first);
      expect(await send("dos.txt", "Dos")).not.toBe(first);
    });

    it("hides a temporary chat and deletes it at sign-out", async () => {
      const other = await api.signUp("Dora");
      const sent = await api.upload(other.token, [new File(["El mapa del zanahorio"], "mapa.txt")], { temporary: "1" });
      const fileIds = (sent.body as { items: { id: string }[] }).items.map(({ id }) => id);
      const chunks = await api.converse(other.token, {
        fileIds,
        content: "Es un secreto zanahorio",
        modelId: models.openai,
        temporary: true,
      });
      const { chatId } = start(chunks);
      const get = (path: string) => api.call("GET", path, { token: other.token });
      expect((await get("/api/chat")).body).toMatchObject({ total: 0 });
      expect((await get("/api/dashboard/initialize")).body).toMatchObject({ aside: { chats: [] } });
      expect((await get("/api/search?q=zanahorio")).body).toMatchObject({ chats: [], messages: [], files: [] });
      expect((await get(`/api/chat/${chatId}`)).body).toMatchObject({ temporary: true });
      expect((await get("/api/message")).body).toMatchObject({ total: 0 });
      const share = await api.call("PUT", `/api/chat/${chatId}/share`, { token: other.token, json: {} });
      expect(share.status).toBe(422);
      // Another session of the same person, and an admin: to them it is not there.
      const again = await api.call("POST", "/auth/signin", { json: { email: other.email, password } });
      for (const token of [again.text, admin.token]) {
        expect((await api.call("GET", `/api/chat/${chatId}`, { token })).status).toBe(404);
        expect((await api.call("GET", `/api/message/${start(chunks).messageId}`, { token })).status).toBe(404);
      }
      await api.call("POST", "/auth/signout", { token: other.token });
      const left = await api.db.selectFrom("messages").where("chatId", "=", chatId).select("id").execute();
      expect(left).toEqual([]);
      expect(await api.db.selectFrom("files").where("id", "in", fileIds).select("id").execute()).toEqual([]);
    });
  });
}
