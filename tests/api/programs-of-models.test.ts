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
  const outcome = await program({ db: api.db, artifacts: api.services.artifacts }).call(
    { codigo },
    { ...caller, signal: new AbortController().signal, length: 60_000, answers: [], ...from },
  );
  return "text" in outcome ? outcome.text : "";
};

it("sums a chat's tables in Spanish format and prints tables", async () => {
  expect(await run("print(suma(archivo('gastos').filas, 'Euros'))")).toBe("2100");
  const grouped = `const grupos = agrupar(archivo("gastos.csv").filas, "Mes");
tabla(Object.keys(grupos).map((Mes) => ({ Mes, Total: suma(grupos[Mes], "Euros") })))`;
  expect(await run(grouped)).toBe("| Mes | Total |\n| --- | --- |\n| enero | 1300 |\n| febrero | 800 |");
});

it("parses common number formats and names values without a number", async () => {
  const values = {
    "1.234,56": 1234.56,
    "1,234.56": 1234.56,
    "1,234,567": 1234567,
    "1,234": 1.234,
    "12 €": 12,
    "$ 5": 5,
    "1.234 EUR.": 1234,
    "-3,5": -3.5,
    "−5": -5,
    "(100)": -100,
    "1.234-": -1234,
    "1.500": 1500,
    "0.005": 0.005,
    "1e6": 1_000_000,
    "1.5E+05": 150_000,
    "5 %": 5,
    "2024": 2024,
    x: null,
    "": null,
    "3 m2": null,
    "12 €/m2": null,
    "1.2.3": null,
  };
  expect(JSON.parse(await run(`print(${JSON.stringify(Object.keys(values))}.map(numero))`))).toEqual(
    Object.values(values),
  );
  expect(await run("print(suma(['1,5', '', null]), media(['1', '', '3']), 2n ** 64n, NaN)")).toBe(
    "1.5 2 18446744073709551616 NaN",
  );
  await expect(run("print(suma(['1', 'n/d']))")).rejects.toThrow("«n/d» (fila 2) no es un número");
});

it("may give its variables the names of ours", async () => {
  const code =
    "const media = suma([1, 2]); let tabla = media; function numero() {} const archivo = tabla; print(archivo)";
  expect(await run(code)).toBe("3");
});

it("reads other files despite one that exceeds the memory", async () => {
  const wide = [";a".repeat(4_000), ...Array.from({ length: 4_000 }, () => "a;b")].join("\n");
  const files = [new File([wide], "ancha.csv"), new File(["x".repeat(1_900_000)], "grande-0.txt")];
  for (let n = 1; n < 5; n++) files.push(new File([`${n}`.repeat(1_900_000)], `grande-${n}.txt`));
  const sent = await api.upload(ana.token, [...files, new File(["A;B\n1;2"], "corta.csv")]);
  const fileIds = (sent.body as { items: { id: string }[] }).items.map(({ id }) => id);
  const described = async (id: string) => (await api.call("GET", `/api/file/${id}`, { token: ana.token })).body;
  for (const id of fileIds) await expect.poll(() => described(id)).toMatchObject({ state: "ready" });
  const [start] = await api.converse(ana.token, { content: "Mira", modelId, fileIds });
  const from = { chatId: start?.type === "start" ? start.chatId : "" };
  expect(await run("print(archivo('corta').filas, archivo('ancha').filas.length)", from)).toBe(
    '[{"A":"1","B":"2"}] 4000',
  );
  await expect(run("for (const { nombre } of archivos) archivo(nombre)", from)).rejects.toThrow(
    "no cabe con los demás",
  );
});

it("programs end with the reply; models with pseudonyms get none", async () => {
  const over = AbortSignal.abort(new Error("fin"));
  await expect(run("for (;;);", { signal: over })).rejects.toThrow("fin");
  await api.db.updateTable("models").set({ pseudonyms: 1 }).where("id", "=", modelId).execute();
  await expect(run("print(1)")).rejects.toThrow("con seudónimos");
  await api.db.updateTable("models").set({ pseudonyms: 0 }).where("id", "=", modelId).execute();
});

it("a program called by a model returns the printed output", async () => {
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
  ["throws a text", "throw 'los datos no cuadran'", "ha lanzado los datos no cuadran"],
  ["throws nothing", "throw null", "ha lanzado null"],
  ["fails later", "(async () => { await null; throw new Error('tarde'); })()", "tarde"],
  ["does not end later", "(async () => { await null; for (;;); })()", "no ha acabado en 10 segundos"],
  ["waits for nothing", "new Promise(() => {})", "no uses await"],
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

it("saves tables, texts and drawings as artifacts, updated on reruns", async () => {
  const code = `const filas = archivo("gastos").filas;
const totales = Object.entries(agrupar(filas, "Mes")).map(([Mes, suyas]) => ({ Mes, Total: suma(suyas, "Euros") / 8 }));
guardar("Totales.csv", totales);
guardar("Nota: así.md", "Dicho «sí»; y punto.");
guardar("Gráfico.vl.json", { mark: "bar", data: { values: totales } });
print("Ya está");`;
  const said = await run(code);
  expect(said).toMatch(/^Ya está\nGuardado en el escrito \d+, «Totales»\./);
  expect(await run(code)).toContain("«Gráfico»");
  type Listed = { items: { id: string; title: string; kind: string; language: string | null; version: number }[] };
  const { items } = (await api.call("GET", `/api/artifact?chatId=${chatId}`, { token: ana.token })).body as Listed;
  const kept = items.map(({ title, kind, language, version }) => ({ title, kind, language, version }));
  expect(kept.sort((a, b) => a.title.localeCompare(b.title, "es"))).toEqual([
    { title: "Gráfico", kind: "code", language: "vega-lite", version: 2 },
    { title: "Nota: así", kind: "text", language: null, version: 2 },
    { title: "Totales", kind: "table", language: null, version: 2 },
  ]);
  const totals = items.find(({ title }) => title === "Totales")?.id;
  const { body } = await api.call("GET", `/api/artifact/${totals}`, { token: ana.token });
  expect(body).toMatchObject({ text: "Mes;Total\nenero;162,5\nfebrero;100" });
});

it("saves nothing for failing programs or beyond the limits", async () => {
  await expect(run("guardar('a.md', 'A'); throw new Error('tarde')")).rejects.toThrow("tarde");
  const tooMany = "for (let n = 0; n < 6; n++) guardar(n + '.md', 'x')";
  await expect(run(tooMany)).rejects.toThrow("no se guardan más de 5");
  await expect(run("guardar('largo.md', 'x'.repeat(2e6))")).rejects.toThrow("es más largo que");
  await expect(run("guardar('vacío.csv', [])")).rejects.toThrow("está vacío");
  expect(await run("guardar('a.md', 'A')", { chatId: "otro" })).toBe("Aquí no se guarda nada: no hay conversación.");
  const list = await api.call("GET", `/api/artifact?chatId=${chatId}&q=vac`, { token: ana.token });
  expect(list.body).toEqual({ items: [] });
});

it("has no files of other people's chats", async () => {
  const luis = await api.signUp("Luis");
  expect(await run("print(archivos.length)", { userId: luis.id })).toBe("0");
});
