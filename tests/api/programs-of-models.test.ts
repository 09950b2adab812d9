import { afterAll, beforeAll, expect, it } from "vitest";
import { program } from "../../app/tools/builtin/program.server.ts";
import type { Caller } from "../../app/tools/tool.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { makes, startWritingModel } from "../support/writing-model.ts";

let api: Api;
let ana: Account;
let chatId: string;
let models: Awaited<ReturnType<typeof startWritingModel>>;
let modelId: string;
beforeAll(async () => {
  models = await startWritingModel();
  api = await openApi(sqlite);
  const admin = await api.signUp("Admin");
  ana = await api.signUp("Ana");
  const json = {
    name: "Escribano",
    provider: "openai-compatible",
    externalId: "x",
    usesTools: true,
    baseUrl: models.url,
  };
  modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
  const table = "Mes;Euros\nenero;1.200,50\nfebrero;800\nenero;99,5";
  const sent = await api.upload(ana.token, [new File([table], "gastos.csv", { type: "text/csv" })]);
  const fileId = (sent.body as { items: { id: string }[] }).items[0]?.id ?? "";
  const [start] = await api.converse(ana.token, { content: "Mira", modelId, fileIds: [fileId] });
  chatId = start?.type === "start" ? start.chatId : "";
});
afterAll(async () => {
  await api.close();
  models.stop();
});

const run = async (codigo: string, from: Partial<Caller> = {}) => {
  const caller = { userId: ana.id, chatId, projectId: null, sessionId: null, modelId, messageId: "", zone: "UTC" };
  const outcome = await program({ db: api.db }).call(
    { codigo },
    { ...caller, signal: new AbortController().signal, length: 60_000, answers: [], ...from },
  );
  return "text" in outcome ? outcome.text : "";
};

it("sums the tables of the chat as they are written in Spanish, and prints a table", async () => {
  expect(await run("print(suma(archivo('gastos').filas, 'Euros'))")).toBe("2100");
  const grouped = `const grupos = agrupar(archivo("gastos.csv").filas, "Mes");
tabla(Object.keys(grupos).map((Mes) => ({ Mes, Total: suma(grupos[Mes], "Euros") })))`;
  expect(await run(grouped)).toBe("| Mes | Total |\n| --- | --- |\n| enero | 1300 |\n| febrero | 800 |");
  const values = ["1.234,56", "1,234.56", "12 €", "-3,5", "1.500", "2024", "x", "0.005"];
  expect(await run(`print(${JSON.stringify(values)}.map(numero))`)).toBe(
    "[1234.56,1234.56,12,-3.5,1500,2024,null,0.005]",
  );
});

it("is called by a model in a chat, and what it prints goes on to it", async () => {
  const [start] = await api.converse(ana.token, {
    chatId,
    content: makes("ejecutar_programa", { codigo: "print(6 * 7)" }),
  });
  const id = start?.type === "start" ? start.messageId : "";
  const { content } = (await api.call("GET", `/api/message/${id}`, { token: ana.token })).body as { content: string };
  expect(content).toContain("42");
});

it.each([
  ["does not end", "for (;;);", "no ha acabado en 10 segundos"],
  ["fills memory", "const a = []; for (;;) a.push(new Array(100000).fill(1));", "El programa"],
  ["goes too deep", "const f = () => f(); f();", "El programa ha fallado"],
  ["is wrong", "const a = 1;\nb();", "línea 2: ReferenceError"],
  ["wants modules", "import fs from 'fs'", "El programa ha fallado"],
  [
    "wants the machine",
    "print(typeof require, typeof process, typeof fetch); require('fs')",
    "undefined undefined undefined",
  ],
  ["prints without end", "for (let n = 0; n < 1e5; n++) print('x'.repeat(100)); throw new Error('fin')", "fin"],
  ["wants another's file", "archivo('secreto')", "No hay ningún archivo «secreto». Hay: gastos.csv"],
])("says why a program that %s gives nothing", async (_name, code, why) => {
  await expect(run(code)).rejects.toThrow(why);
});

it("has no files of other people's chats", async () => {
  const luis = await api.signUp("Luis");
  expect(await run("print(archivos.length)", { userId: luis.id })).toBe("0");
});
