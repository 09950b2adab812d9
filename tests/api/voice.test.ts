import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inParts, spoken } from "../../app/voice/voice.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { recording, silentMp3 } from "../support/sounds.ts";

describe("what is read aloud", () => {
  it("leaves out Markdown marks, link addresses and code", () => {
    const markdown =
      "## Las habas\n\nSe siembran en **noviembre** [1], dice [la guía](https://ejemplo.es/x).\n\n- una\n- dos\n\n```js\nlet x = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    expect(spoken(markdown)).toBe(
      "Las habas\n\nSe siembran en noviembre, dice la guía.\n\nuna\ndos\n\nAquí hay código.\n\na, b.\n\n1, 2.",
    );
  });

  it.each(["[", "[](", "`", "* ", "|", "$$", "![a", "```", "- ", "["])(
    "comes to an end for a million of %s",
    (text) => {
      // With time that grows by the square, it is hours.
      expect(spoken(text.repeat(1_000_000))).toEqual(expect.any(String));
    },
  );

  it("is split at sentence ends without losing text", () => {
    const text = "Una frase que no es corta del todo. ".repeat(300).trim();
    const parts = inParts(text);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part).toMatch(/^Una.*todo\.$/s);
    expect(parts.join(" ")).toBe(text);
    expect(inParts("x".repeat(8_000)).join("")).toBe("x".repeat(8_000));
  });
});

const portOf = (server: Server) => (server.address() as AddressInfo).port;

for (const engine of await ruleEngines()) {
  describe(`voice on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let server: LLMock;
    let url: string;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      server = new LLMock({ port: 0 });
      server.onTranscription({ transcription: { text: " Compra habas. " } });
      server.onSpeech(/.*/, { audio: silentMp3.toString("base64"), format: "mp3" });
      await server.start();
      url = `${server.url}/v1`;
    });
    afterAll(async () => {
      await server.stop();
      await api.close();
    });

    const voiceOf = async (token: string) => {
      const { body } = await api.call("GET", "/api/dashboard/initialize", { token });
      return (body as { voice: object }).voice;
    };
    const make = (json: object) => api.call("POST", "/api/voice-model", { token: admin.token, json });
    const hearing = { name: "Oído", kind: "transcription", externalId: "whisper-1" };
    const speaking = { name: "Voz", kind: "speech", externalId: "tts-1" };
    /** Moves the model of a kind to another server. */
    const move = async (model: typeof hearing, baseUrl: string) => {
      const { body } = await api.call("GET", "/api/voice-model", { token: admin.token });
      const { items } = body as { items: { id: string; kind: string }[] };
      const id = items.find(({ kind }) => kind === model.kind)?.id;
      const json = { ...model, baseUrl, apiKey: "sk-secreta" };
      return api.call("PUT", `/api/voice-model/${id}`, { token: admin.token, json });
    };
    const sent = (bytes: Uint8Array<ArrayBuffer>, { token } = ana) => {
      const body = new FormData();
      body.append("audio", new File([bytes], "dictado"));
      return api.fetch("/api/voice/transcriptions", token, { method: "POST", body });
    };
    const reply = async ({ token } = ana, more: object = {}) => {
      const chunks = await api.converse(token, { content: "Hola", ...more });
      const [start] = chunks;
      if (start?.type !== "start") throw new Error("no start");
      return start.messageId;
    };
    const listen = (id: string, headers: Record<string, string> = {}, { token } = ana) =>
      api.fetch(`/api/message/${id}/speech`, token, { headers });
    const asked = () => server.getRequests().filter(({ path }) => path.endsWith("/audio/speech")).length;

    it("is unavailable until an administrator has added a voice model", async () => {
      expect(await voiceOf(ana.token)).toEqual({ hears: false, speaks: false });
      const [heard, spokenOf] = [await sent(recording), await listen(await reply())];
      const asked = await api.call("POST", "/audio/speech", { token: ana.token, json: { input: "Hola" } });
      expect([asked.status, asked.body]).toMatchObject([404, { error: { type: "invalid_request_error" } }]);
      for (const answer of [heard, spokenOf]) {
        expect(answer.status).toBe(404);
        expect(await answer.text()).toContain("Modelos de voz");
      }
    });

    it("refuses a model that fails its trial when saved", async () => {
      const refused = await make({ ...hearing, baseUrl: "http://127.0.0.1:9/v1" });
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("Se ha probado, y no va.")]);
      for (const model of [hearing, speaking]) {
        const made = await make({ ...model, baseUrl: url, apiKey: "sk-secreta" });
        expect(made.status, made.text).toBe(201);
        expect(made.text).not.toContain("sk-secreta");
      }
      expect(await voiceOf(ana.token)).toEqual({ hears: true, speaks: true });
    });

    it("writes down what is said", async () => {
      const answer = await sent(recording);
      expect([answer.status, await answer.json()]).toEqual([200, { text: "Compra habas." }]);
    });

    it("is heard as a program wishes", async () => {
      let asked = "";
      const hearer = createServer(async (request, response) => {
        asked = "";
        for await (const part of request) asked += part;
        response.end(JSON.stringify({ text: "Benasque" }));
      }).listen(0, "127.0.0.1");
      await once(hearer, "listening");
      const moved = await move(hearing, `http://127.0.0.1:${portOf(hearer)}/v1`);
      expect(moved.status, moved.text).toBe(200);
      const form = new FormData();
      form.append("file", new File([recording], "dictado.webm"));
      form.append("language", "es");
      form.append("prompt", "Benasque");
      const answer = await api.fetch("/audio/transcriptions", ana.token, { method: "POST", body: form });
      expect(await answer.json()).toEqual({ text: "Benasque" });
      expect(asked).toMatch(/name="language"\r\n\r\nes\r\n.*name="prompt"\r\n\r\nBenasque\r\n/s);
      await move(hearing, url);
      hearer.close();
    });

    it("programs have both, by OpenAI's names", async () => {
      const transcribed = (more: Record<string, string> = {}) => {
        const body = new FormData();
        body.append("file", new File([recording], "dictado.webm"));
        for (const [name, value] of Object.entries({ model: "whisper-1", ...more })) body.append(name, value);
        return api.fetch("/audio/transcriptions", ana.token, { method: "POST", body });
      };
      expect(await (await transcribed()).json()).toEqual({ text: "Compra habas." });
      expect(await (await transcribed({ response_format: "text" })).text()).toBe("Compra habas.");
      expect((await transcribed({ language: "es", prompt: "Benasque", temperature: "0" })).status).toBe(200);
      expect(await (await transcribed({ language: "español" })).text()).toContain("un código de dos letras");
      expect(await (await transcribed({ stream: "true" })).text()).toContain("Aquí no hay «stream».");
      const refused = await transcribed({ response_format: "srt" });
      expect([refused.status, await refused.json()]).toMatchObject([
        422,
        { error: { message: "response_format tiene que ser json o text.", param: "response_format" } },
      ]);
      const say = (json: object) => api.call("POST", "/audio/speech", { token: ana.token, json });
      const said = await say({ model: "tts-1", input: "Hola", voice: "alloy" });
      expect([said.status, said.headers.get("Content-Type")]).toEqual([200, "audio/mpeg"]);
      expect((await say({ input: "Hola", speed: 9 })).text).toContain("Va de 0.25 a 4.");
      expect((await say({ input: "Hola", response_format: "midi" })).status).toBe(422);
      expect((await say({ input: "a".repeat(5000) })).status).toBe(422);
    });

    it("is heard from a server that gives WAV alone, whole and in parts", async () => {
      // Without true sizes, as it is sent while it is made.
      const unsized = Buffer.from(recording);
      unsized.writeUInt32LE(0xffff_ffff, 4);
      unsized.writeUInt32LE(0xffff_ffff, 40);
      const asked: { input: string; response_format: string; speed?: number }[] = [];
      const speaker = createServer(async (request, response) => {
        let body = "";
        for await (const part of request) body += part;
        asked.push(JSON.parse(body));
        response.end(unsized);
      }).listen(0, "127.0.0.1");
      await once(speaker, "listening");
      const own = await move(speaking, `http://127.0.0.1:${portOf(speaker)}/v1`);
      expect(own.status, own.text).toBe(200);
      const id = await reply();
      for (const answer of [await listen(id), await listen(id)]) {
        expect(answer.headers.get("Content-Type")).toBe("audio/wav");
        expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(recording));
      }
      const json = { input: "Una frase. ".repeat(370), response_format: "wav", speed: 1.5 };
      const long = await api.fetch("/audio/speech", ana.token, {
        ...{ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) },
      });
      const sound = Buffer.from(await long.arrayBuffer());
      const samples = recording.length - 44;
      expect([sound.length, sound.readUInt32LE(4), sound.readUInt32LE(40)]).toEqual([
        ...[44 + 2 * samples, 36 + 2 * samples, 2 * samples],
      ]);
      expect(asked.slice(-2)).toMatchObject([{ response_format: "wav", speed: 1.5 }, { response_format: "wav" }]);
      await move(speaking, url);
      speaker.close();
    });

    it.each([
      ["nothing", new Uint8Array(), 422, "Elige una grabación"],
      ["a text", new TextEncoder().encode("Hola, esto no es una grabación."), 422, "no es de un tipo que se escuche"],
      ["an hour of it", new Uint8Array(26 * 1024 * 1024), 413, "más de 25 MB"],
    ])("refuses %s, and says why", async (_, bytes, status, sentence) => {
      const answer = await sent(bytes);
      expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(sentence)]);
    });

    it("says so where nothing is to be heard", async () => {
      const silent = new LLMock({ port: 0 });
      silent.onTranscription({ transcription: { text: "  " } });
      await silent.start();
      const made = await make({ ...hearing, name: "Sordo", baseUrl: `${silent.url}/v1` });
      const answer = await sent(recording);
      expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining("no se oye ninguna palabra")]);
      await api.call("DELETE", `/api/voice-model/${(made.body as { id: string }).id}`, { token: admin.token });
      await silent.stop();
    });

    it("generates a reply's audio once and serves it in ranges", async () => {
      const id = await reply();
      const before = asked();
      const both = await Promise.all([listen(id), listen(id)]);
      for (const answer of both) {
        expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "audio/mpeg"]);
        expect(Buffer.from(await answer.arrayBuffer())).toEqual(silentMp3);
      }
      const part = await listen(id, { Range: "bytes=10-19" });
      expect([part.status, part.headers.get("Content-Range")]).toEqual([206, `bytes 10-19/${silentMp3.length}`]);
      expect(Buffer.from(await part.arrayBuffer())).toEqual(silentMp3.subarray(10, 20));
      const end = await listen(id, { Range: "bytes=-5" });
      expect(Buffer.from(await end.arrayBuffer())).toEqual(silentMp3.subarray(-5));
      expect(asked()).toBe(before + 1);
    });

    it("keeps nothing of a temporary conversation", async () => {
      const id = await reply(ana, { temporary: true });
      expect((await listen(id)).status).toBe(200);
      const rows = await api.db.selectFrom("speeches").where("messageId", "=", id).select("id").execute();
      expect(rows).toEqual([]);
    });

    it("what is kept counts in the owner's space", async () => {
      const space = async () =>
        ((await api.call("GET", "/auth/session", { token: ana.token })).body as { usage: { storedBytes: number } })
          .usage.storedBytes;
      const id = await reply();
      const before = await space();
      await listen(id);
      expect((await space()) - before).toBe(silentMp3.length);
    });

    it("keeps audio through cleanup and deletes it with its message", async () => {
      const id = await reply();
      await listen(id);
      const [row] = await api.db.selectFrom("speeches").where("messageId", "=", id).select("id").execute();
      await api.services.files.sweep();
      expect(await api.services.storage.read(row?.id ?? "", "original")).toEqual(silentMp3);
      await api.call("DELETE", `/api/message/${id}`, { token: ana.token });
      expect(await api.db.selectFrom("speeches").where("messageId", "=", id).select("id").execute()).toEqual([]);
    });

    it("somebody else's reply is not heard", async () => {
      const berta = await api.signUp("Berta");
      expect((await listen(await reply(), {}, berta)).status).toBe(404);
    });
  });
}
