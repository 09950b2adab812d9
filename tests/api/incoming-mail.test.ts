import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newWords, ownWords } from "../../app/api/mail/own-words.server.ts";
import { fetchMail } from "../../app/api/mail/poll.server.ts";
import { provenSender } from "../../app/api/mail/sender.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { hasMailbox, startMailbox } from "../support/mailbox.ts";
import { makes, says, startWritingModel } from "../support/writing-model.ts";

const address = "tertulia@ayto.example";
const trusts = "mx.ayto.example";
const token = "un-token-de-treinta-y-dos-letras-o-más".padEnd(40, "x").replace(/[^\x20-\x7e]/g, "x");

type Parts = {
  from: string;
  text?: string;
  checked?: string;
  head?: string;
  subject?: string;
  id?: string;
  attach?: [name: string, content: string];
};
let sent = 0;
/** An e-mail as the mail server of the house hands it over. */
function message({
  from,
  text = "",
  checked,
  head = "",
  subject = "Una duda",
  id = `<${++sent}@x.es>`,
  attach,
}: Parts): string {
  const domain = from.split("@").at(-1)?.replace(">", "");
  const lines = [
    `Authentication-Results: ${checked ?? `${trusts}; dkim=pass header.d=${domain}; spf=pass smtp.mailfrom=${domain}`}`,
    ...(head ? [head] : []),
    `From: ${from}`,
    `To: ${address}`,
    `Subject: ${subject}`,
    `Message-ID: ${id}`,
    "MIME-Version: 1.0",
  ];
  const plain = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit";
  if (!attach) return [...lines, plain, "", text].join("\r\n");
  const [name, content] = attach;
  const file = `Content-Type: text/plain\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64`;
  const parts = [`${plain}\r\n\r\n${text}`, `${file}\r\n\r\n${Buffer.from(content).toString("base64")}`];
  const body = parts.map((part) => `--corte\r\n${part}\r\n`).join("");
  return [...lines, 'Content-Type: multipart/mixed; boundary="corte"', "", `${body}--corte--`].join("\r\n");
}

let models: Awaited<ReturnType<typeof startWritingModel>>;
let mails: MailServer;
beforeAll(async () => {
  [models, mails] = await Promise.all([startWritingModel(), startMailServer()]);
});
afterAll(async () => {
  models.stop();
  await mails.stop();
});

for (const engine of await ruleEngines()) {
  describe(`questions by e-mail, on ${engine.name}`, () => {
    let api: Api;
    let [admin, ana] = [{}, {}] as Account[] as [Account, Account];
    beforeAll(async () => {
      const mail = { smtpUrl: mails.url, mailTo: "casa@ayto.example", mailFrom: "casa@ayto.example" };
      api = await openApi(engine, { mail, mailIn: { imap: undefined, token, address, trusts } });
      [admin, ana] = [await api.signUp("Admin"), await api.signUp("Ana")];
      const json = {
        name: "Escribano",
        provider: "openai-compatible",
        externalId: "x",
        usesTools: true,
        isDefault: true,
      };
      await api.call("POST", "/api/model", { token: admin.token, json: { ...json, baseUrl: models.url } });
    });
    afterAll(() => api.close());
    beforeEach(() => {
      mails.received.length = 0;
    });

    const bring = (mail: string, bearer = token) =>
      api.call("POST", "/api/mail", { token: bearer, json: mail, headers: { "Content-Type": "message/rfc822" } });
    const chats = async () => {
      const { body } = await api.call("GET", "/api/chat?limit=100", { token: ana.token });
      return (body as { items: { id: string }[] }).items;
    };
    const idOf = (mail: string) => /^Message-ID:\s+(\S+)/im.exec(mail)?.[1] ?? "";
    /** The next e-mail to Ana, with its letters. */
    const nextMail = async () => {
      const timer = setInterval(() => api.services.jobs.wake("mail-answer"), 100);
      const mail = await mails.nextTo(ana.email).finally(() => clearInterval(timer));
      return Buffer.from(
        mail.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
        "latin1",
      ).toString();
    };

    it("are answered by e-mail and continue with a reply", async () => {
      const asked = await bring(
        message({ from: `Ana <${ana.email}>`, text: says("Está en la calle Mayor."), id: "<uno@x.es>" }),
      );
      expect(asked.status, asked.text).toBe(204);
      const answer = await nextMail();
      expect(answer).toContain("Está en la calle Mayor.");
      expect(answer).toMatch(/Subject: Re: Una duda/);
      expect(answer).toMatch(/In-Reply-To: <uno@x\.es>/);
      expect(answer).toMatch(/Auto-Submitted: auto-replied/i);
      expect(answer).toContain(`Reply-To: ${address}`);
      expect(answer).toContain("Contesta una máquina.");
      const [chat] = await chats();
      const quoted = `El lun, 3 mar 2025 a las 10:00, Tertulia <${address}>\nescribió:\n\n> Está en la calle Mayor.\n`;
      const head = `References: <uno@x.es> ${idOf(answer)}\r\nIn-Reply-To: ${idOf(answer)}`;
      await bring(message({ from: ana.email, text: `${says("A las nueve.")}\n\n${quoted}`, head }));
      expect(await nextMail()).toContain("A las nueve.");
      expect(await chats()).toHaveLength(1);
      const { text } = await api.call("GET", `/api/chat/${chat?.id}/messages`, { token: ana.token });
      expect(text).not.toContain("escribió:");
    });

    it("include attachments and report unreadable ones", async () => {
      const attach: [string, string] = ["horario.txt", "El padrón abre a las ocho y media."];
      await bring(message({ from: ana.email, text: says("Visto."), attach }));
      await nextMail();
      expect(JSON.stringify(models.asked)).toContain("ocho y media");
      await bring(message({ from: ana.email, text: says("Sin él."), attach: ["programa.exe", "MZ\u0000\u0001"] }));
      const told = await nextMail();
      expect(told).toContain("No se ha podido leer un archivo");
      expect(told).toContain("programa.exe");
    });

    it("are asked once, though they are brought again", async () => {
      const mail = message({ from: ana.email, text: says("Una vez."), id: "<dos@x.es>" });
      await bring(mail);
      await nextMail();
      const before = (await chats()).length;
      await api.db.deleteFrom("jobs").where("kind", "=", "mail-answer").execute();
      // As if the process had died before its answer was noted.
      expect((await bring(mail)).status).toBe(204);
      expect(await nextMail()).toContain("Una vez.");
      expect(await chats()).toHaveLength(before);
    });

    it.each<[string, (email: string) => Partial<Parts>]>([
      ["nobody has checked", () => ({ checked: "otro.example; dkim=pass header.d=ejemplo.es" })],
      ["was checked and failed", () => ({ checked: `${trusts}; dkim=fail header.d=ejemplo.es; spf=softfail` })],
      ["is signed by somebody else", () => ({ checked: `${trusts}; dkim=pass header.d=malo.example` })],
      ["passes in a comment", () => ({ checked: `${trusts}; dkim=fail (x; dkim=pass header.d=ejemplo.es)` })],
      [
        "says that it was checked below",
        () => ({
          checked: `${trusts}; dkim=none`,
          head: `Authentication-Results: ${trusts}; dkim=pass header.d=ejemplo.es`,
        }),
      ],
      ["has two senders", (email) => ({ head: `From: ${email}` })],
      ["was sent by a program", () => ({ head: "Auto-Submitted: auto-replied" })],
      ["comes from a list", () => ({ head: "List-Id: <lista.ejemplo.es>" })],
      ["is from a stranger", () => ({ from: "nadie@ejemplo.es" })],
    ])("are not asked nor answered where the e-mail %s", async (_name, parts) => {
      const before = (await chats()).length;
      const answer = await bring(message({ from: ana.email, text: says("No"), ...parts(ana.email) }));
      expect(answer.status).toBe(204);
      expect(await chats()).toHaveLength(before);
      expect(mails.received).toEqual([]);
    });

    it("are refused by e-mail where they can't be asked", async () => {
      await bring(message({ from: ana.email, text: "x".repeat(40_000) }));
      expect(await nextMail()).toContain("Tu mensaje pasa de 32.000 caracteres");
      await bring(message({ from: ana.email, text: "> solo una cita", subject: "" }));
      expect(await nextMail()).toContain("No se ha encontrado ninguna pregunta");
      const plan = { userId: ana.id, plan: "gratis", startsAt: new Date().toISOString(), messagesPerDay: 1 };
      const made = await api.call("POST", "/api/subscription", { token: admin.token, json: plan });
      expect(made.status, made.text).toBe(201);
      await bring(message({ from: ana.email, text: says("Nada") }));
      expect(await nextMail()).toContain("Has usado");
      await api.call("DELETE", `/api/subscription/${(made.body as { id: string }).id}`, { token: admin.token });
    });

    it("wait while a reply is being written in their conversation", async () => {
      await bring(message({ from: ana.email, text: says("Primera."), id: "<tres@x.es>" }));
      const first = await nextMail();
      const letGo = models.hold();
      const head = `In-Reply-To: ${idOf(first)}`;
      await bring(message({ from: ana.email, text: says("Segunda, despacio."), head }));
      const early = await bring(message({ from: ana.email, text: says("Tercera."), head }));
      letGo();
      expect([early.status, early.headers.get("Retry-After")]).toEqual([503, "60"]);
      expect(await nextMail()).toContain("Segunda, despacio.");
    });

    it("link to the tool's permission page and continue once allowed", async () => {
      await api.db.updateTable("users").set({ remembers: 1 }).where("id", "=", ana.id).execute();
      await bring(message({ from: ana.email, text: makes("recordar", { frase: "Trabaja en Lugo" }) }));
      const asks = await nextMail();
      expect(asks).toContain("Antes de contestar hay que permitir");
      const [, chatId] = /conversation\/chat\/([\w-]{36})/.exec(asks) ?? [];
      const { body } = await api.call("GET", `/api/chat/${chatId}/messages`, { token: ana.token });
      const reply = (body as { items: { id: string; parts: { n: number; asks?: { hash: string } }[] }[] }).items.at(-1);
      const call = reply?.parts.find((part) => part.asks);
      const json = { n: call?.n, hash: call?.asks?.hash, decision: "once" };
      const decided = await api.call("POST", `/api/message/${reply?.id}/decision`, { token: ana.token, json });
      expect(decided.status, decided.text).toBeLessThan(300);
      expect(await nextMail()).toContain("Recordado");
    });

    it("are handed over with the token alone", async () => {
      const mail = message({ from: ana.email, text: says("No") });
      expect((await bring(mail, "otro")).status).toBe(401);
      expect((await bring("no es un correo")).status).toBe(204);
      const without = await openApi(engine);
      const { status } = await without.call("POST", "/api/mail", { token, json: mail });
      await without.close();
      expect(status).toBe(404);
    });

    it.runIf(hasMailbox)("are fetched from a mailbox, and marked as seen", async () => {
      const box = await startMailbox();
      try {
        const fetched = () => fetchMail(api.services, box.url, new AbortController().signal);
        box.deliver(message({ from: ana.email, text: says("Desde el buzón.") }));
        box.deliver(message({ from: "nadie@ejemplo.es", text: "Compra ya" }));
        await fetched();
        expect(await nextMail()).toContain("Desde el buzón.");
        expect(box.flags()).toEqual({ seen: 2, unseen: 0 });
        await fetched();
        expect(mails.received).toEqual([]);
        const letGo = models.hold();
        const head = `In-Reply-To: <x@y>`;
        box.deliver(message({ from: ana.email, text: says("Otra."), head }));
        await fetched();
        letGo();
        await nextMail();
      } finally {
        await box.stop();
      }
      await expect(fetchMail(api.services, box.url, new AbortController().signal)).rejects.toThrow();
    });
  });
}

describe("the sender of an e-mail", () => {
  const proven = (results: string, from = "ana@sede.ayto.es") =>
    provenSender(
      {
        from: [from],
        headers: [
          ["authentication-results", `${trusts}; ${results}`],
          ["from", from],
        ],
      },
      trusts,
    );
  it.each([
    ["dmarc=pass header.from=sede.ayto.es", true],
    ["dmarc=pass (p=none) header.from=SEDE.ayto.es", true],
    ["dkim=pass header.i=@sede.ayto.es header.s=x", true],
    ["dkim=pass header.d=ayto.es", true],
    ["spf=pass smtp.mailfrom=ana@sede.ayto.es", true],
    ["spf=pass smtp.mailfrom=ana@ayto.es", false],
    ["dkim=pass header.d=es", false],
    ["dkim=pass header.d=noayto.es", false],
    ['dkim=pass reason="header.d=sede.ayto.es"', false],
    ["iprev=pass policy.iprev=1.2.3.4", false],
    ["none", false],
  ])("is proven by «%s»: %s", (results, is) => {
    expect(proven(results) !== undefined).toBe(is);
  });
});

describe("the words of an e-mail", () => {
  it.each([
    ["¿Abrís hoy?\n\nEl lun, 3 mar 2025 a las 10:00, X <x@y.es> escribió:\n> Sí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\nOn Mon, Mar 3, 2025 at 10:00 AM X <x@y.es>\nwrote:\n> Sí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\n-----Mensaje original-----\nDe: X\nEnviado: ayer\nSí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\nDe: X <x@y.es>\nEnviado el: lunes\nPara: Ana\nAsunto: Re\n\nSí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\n________________________________\nFrom: X\nSí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\n-- \nAna\nAyuntamiento", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\nEl 3/3/25 a les 10:00, X ha escrit:\n> Sí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\nDe: X <x@y.es>\nEnviat: dilluns\nPer a: Ana\nTema: Re\n\nSí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\n2025(e)ko mar. 3(a), al. (10:00), X igorleak hau idatzi du (<x@y.es>):\n> Sí", "¿Abrís hoy?"],
    ["¿Abrís hoy?\n\n*De:* X <x@y.es>\n*Enviado:* lunes\n*Para:* Ana\n\nSí", "¿Abrís hoy?"],
    ["> ¿Abrís?\nSí, ¿y mañana?", "Sí, ¿y mañana?"],
    ["De: aquí a allí hay un paso\nsin más", "De: aquí a allí hay un paso\nsin más"],
    ["El alcalde escribió: «hola»\ny se fue", "El alcalde escribió: «hola»\ny se fue"],
    ["El informe que Ana escribió:\n¿está bien?", "El informe que Ana escribió:\n¿está bien?"],
  ])("of %j are %j", (text, own) => {
    expect(ownWords(text)).toBe(own);
  });

  it.each([
    [
      "Resúmelo\n\n-- \nAna\n\n---------- Forwarded message ---------\nDe: X <x@y.es>\n\nLa fianza es de 640 €.",
      "Resúmelo\n\n---------- Forwarded message ---------\nDe: X <x@y.es>\n\nLa fianza es de 640 €.",
    ],
    ["¿Cuánto?\n\nDe: X\nEnviado: ayer\n\nSon 640 €.", "¿Cuánto?\n\nDe: X\nEnviado: ayer\n\nSon 640 €."],
    ["> solo\n> una cita\n", ""],
  ])("that is new keep what is forwarded: %j", (text, words) => {
    expect(newWords(text)).toBe(words);
  });
});
