import { expect, it, onTestFinished } from "vitest";
import { type Program, startProgram } from "../support/doors.ts";
import { startServer } from "../support/server.ts";

type Fields = Record<string, unknown>;
type Schema = { $ref?: string; properties?: Record<string, unknown> };
type Described = { components: { schemas: Record<string, Schema> }; paths: Record<string, { put?: Put }> };
type Put = { requestBody: { content: { "application/json": { schema: Schema } } } };

/** Somebody who administers the house, and the API in their name. */
async function startHouse() {
  const server = await startServer();
  onTestFinished(async () => void (await server.stop()));
  const person = await startProgram(server.url);
  const call = async (method: string, path: string, json?: Fields): Promise<Fields & { id: string }> => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${person.session}` };
    const answer = await fetch(`${server.url}/v1${path}`, {
      method,
      headers,
      ...(json && { body: JSON.stringify(json) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  return { ...person, call };
}
type House = Program & Awaited<ReturnType<typeof startHouse>>;

/** Fields of the body that changes one of these, as the API describes it. */
async function fieldsOf({ call }: House, path: string): Promise<string[]> {
  const { paths, components } = (await call("GET", "/api/openapi.json")) as unknown as Described;
  const schema = paths[`/api/${path}/{id}`]?.put?.requestBody.content["application/json"].schema;
  const name = schema?.$ref?.split("/").at(-1);
  return Object.keys((name === undefined ? schema : components.schemas[name])?.properties ?? {}).sort();
}

const things: Record<string, (house: House) => Promise<Fields>> = {
  template: async () => ({ title: "Acta", content: "De {{fecha}}", shared: true }),
  project: async () => ({ name: "Huerto", description: "El de todos", instructions: "Sé breve." }),
  schedule: async ({ call }) => ({
    content: "¿Qué se siembra?",
    modelId: (await madeModel(call)).id,
    assistantId: null,
    days: [4],
    monthDay: null,
    time: "08:30",
    zone: "Europe/Madrid",
    tells: true,
    enabled: false,
    looksIn: null,
  }),
  skill: async ({ call }) => ({
    name: "redactar-bandos",
    description: "Para bandos",
    content: "Empieza por «Se hace saber».",
    shared: true,
    groupIds: [(await call("POST", "/api/group", { name: "Vecinos" })).id],
  }),
  assistant: async ({ call, browser }) => ({
    name: "Secretaria",
    purpose: "Actas",
    instructions: "Sé breve.",
    modelId: (await madeModel(call)).id,
    temperature: 0.4,
    toolIds: [],
    fileIds: await browser.upload([new File(["Uno, dos"], "notas.txt", { type: "text/plain" })]),
    beginnings: ["Redacta un acta"],
    shared: true,
    groupIds: [(await call("POST", "/api/group", { name: "Vecinos" })).id],
  }),
};
const pages: Record<string, string> = { skill: "oficio" };
const madeModel = (call: House["call"]) =>
  call("POST", "/api/model", { name: "Otro", externalId: "otro", provider: "ollama", baseUrl: "http://127.0.0.1:9" });

// A form that lacks a field would set it to its default with each change.
it.each(Object.entries(things))("changing the form of a %s as it stands changes nothing", async (path, fill) => {
  const house = await startHouse();
  const given = await fill(house);
  expect(Object.keys(given).sort(), "give a new field a value in `things`").toEqual(await fieldsOf(house, path));
  const { id } = await house.call("POST", `/api/${path}`, given);
  const before = await house.call("GET", `/api/${path}/${id}`);
  expect(before).toMatchObject(given);
  const answer = await house.browser.change(`/conversation/${pages[path] ?? path}/${id}/editar`, {});
  expect(answer.status).toBe(303);
  const { updatedAt: _, version: __, nextAt: ___, ...after } = await house.call("GET", `/api/${path}/${id}`);
  expect(before).toMatchObject(after);
});
