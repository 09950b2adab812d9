import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { startErrandModel } from "../support/errand-model.ts";
import { startServer } from "../support/server.ts";

type Step = { part: number; kind: string; title: string; state: string; text: string };
type Errand = {
  id: string;
  state: string;
  steps: number;
  problem: string | null;
  stepsTaken: Step[];
  report: string;
  artifactId: string;
};

const kills = 20;

it(`an errand killed ${kills} times loses nothing and repeats nothing`, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  const models = await startErrandModel();
  models.state.takes = 60;
  const start = () => startServer({ DATA_DIR: dataDir, OPENAI_BASE_URL: models.url });
  let server = await start();
  onTestFinished(() => {
    server.process.kill("SIGKILL");
    models.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  let token = "";
  const call = async (method: string, path: string, json?: object) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    return fetch(`${server.url}/v1${path}`, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  };
  const read = async (id: string) => (await (await call("GET", `/api/errand/${id}`)).json()) as Errand;
  const person = { name: "Ana", email: "ana@ejemplo.es", password: "una frase larga y rara" };
  token = await (await call("POST", "/auth/signup", person)).text();
  const texts = Array.from(
    { length: 8 },
    (_, n) => `El puente ${n}: su historia y su coste, que fue de ${n * 1000} pesetas.`,
  );
  const form = new FormData();
  for (const [n, text] of texts.entries()) form.append("files", new File([text], `puente-${n}.txt`));
  const sent = await fetch(`${server.url}/v1/api/file/uploads`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: form,
  });
  expect(sent.status).toBe(201);
  const files = async () => ((await (await call("GET", "/api/file")).json()) as { items: { state: string }[] }).items;
  await expect.poll(async () => (await files()).filter(({ state }) => state === "ready").length).toBe(texts.length);

  const question = "¿Qué se sabe de los puentes?";
  const made = await call("POST", "/api/errand", { question, looksIn: ["documents"], stepsAtMost: 100 });
  const { id } = (await made.json()) as Errand;
  await expect.poll(async () => (await read(id)).state).toBe("planned");
  const plan = Array.from({ length: 8 }, (_, n) => ({
    title: `Puente ${n}`,
    searches: [`historia puente ${n}`, `coste puente ${n}`],
  }));
  expect((await call("PATCH", `/api/errand/${id}`, { plan })).status).toBe(200);
  await call("POST", `/api/errand/${id}/start`, {});

  const over = new Map<string, string>();
  let steps = 0;
  const keyOf = ({ part, kind, title }: Step) => `${part} ${kind} ${title}`;
  for (let n = 0; n < kills; n++) {
    // A step that never comes to its end is given up: one does, between two deaths.
    await expect.poll(async () => (await read(id)).steps, { timeout: 20_000, interval: 5 }).toBeGreaterThan(steps);
    await wait(8 * n);
    const { stepsTaken, state, steps: now } = await read(id);
    steps = now;
    expect(state).toBe("running");
    for (const step of stepsTaken) {
      const key = keyOf(step);
      // Done once: it stays as it was.
      if (over.has(key)) expect([key, step.text]).toEqual([key, over.get(key)]);
      if (step.state === "done") over.set(key, step.text);
    }
    await server.end("SIGKILL");
    server = await start();
  }
  await expect.poll(async () => (await read(id)).state, { timeout: 60_000 }).toBe("done");
  const done = await read(id);
  const keys = done.stepsTaken.map(keyOf);
  expect(new Set(keys).size).toBe(keys.length);
  expect(done.stepsTaken.filter(({ state }) => state === "waiting")).toEqual([]);
  expect(done.report).toMatch(/^Resumen [\s\S]*## Puente 0[\s\S]*## Puente 7[\s\S]*## Fuentes/);
  const { items } = (await (await call("GET", "/api/artifact")).json()) as { items: { id: string; version: number }[] };
  expect(items.map((one) => one.id)).toEqual([done.artifactId]);
  // A death costs the answer that was under way, and no other.
  expect(models.asked.length).toBeLessThanOrEqual(done.stepsTaken.length + 1 + kills);
}, 180_000);
