import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { guardConnections } from "../../app/process/network/addresses.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

let api: Api;
let admin: Account;
beforeAll(async () => {
  api = await openApi(sqlite);
  admin = await api.signUp("Admin");
});
afterAll(() => api.close());

const model = { name: "Uno", provider: "openai-compatible", externalId: "x" };
const save = (baseUrl: string) => api.call("POST", "/api/model", { token: admin.token, json: { ...model, baseUrl } });

describe("the address of a model", () => {
  it.each([
    "http://169.254.169.254/latest",
    "http://169.254.169.254./",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://0xA9.254.0251.254/",
    "http://１６９.254.169.254/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[64:ff9b:1:a9fe:a9:fe00::]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://metadata.google.internal/",
    "http://METADATA.google.internal./",
    "http://metadata/",
  ])("%s is refused when it is set (guard: isForbiddenUrl)", async (baseUrl) => {
    const answer = await save(baseUrl);
    expect([answer.status, (answer.body as { errors: object }).errors]).toEqual([
      422,
      { baseUrl: "En esa dirección no puede haber un modelo: es de la propia red de la máquina." },
    ]);
  });

  it("carries no password, which every admin would read", async () => {
    const answer = await save("https://ana:clave@modelos.casa/v1");
    expect([answer.status, (answer.body as { errors: object }).errors]).toEqual([
      422,
      { baseUrl: "La dirección no lleva usuario ni contraseña: escribe la clave en su campo." },
    ]);
  });

  it.each(["", "nada", "ftp://x", "javascript:alert(1)", "http://[fe80::1%25eth0]/"])(
    "%j is refused with a sentence",
    async (baseUrl) => {
      expect((await save(baseUrl)).status).toBe(422);
    },
  );

  it.each([
    "http://127.0.0.1:11434/v1",
    "http://[::1]:8080/v1",
    "http://192.168.1.20/v1",
    "http://modelos.casa/v1",
    "http://[64:ff9b::a29f:8cf5]/",
  ])("%s, in the house or anybody's, is taken", async (baseUrl) => {
    expect((await save(baseUrl)).status).toBe(201);
  });
});

const linkLocal = "169.254.7.7";
/** Only who may change the network's addresses can have a server there. */
function mayListen(): boolean {
  try {
    execFileSync("ip", ["addr", "replace", `${linkLocal}/32`, "dev", "lo"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(mayListen())("a name that leads to such an address", () => {
  it("is told nothing, whoever set it (guard: guardConnections)", async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked++;
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, linkLocal, resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    guardConnections();
    const { id } = (await save("http://modelos.casa/v1")).body as { id: string };
    // As if the name had been led there since.
    await api.db
      .updateTable("models")
      .set({ baseUrl: `http://${linkLocal}:${port}/v1` })
      .where("id", "=", id)
      .execute();
    const chunks = await api.converse(admin.token, { content: "Hola", modelId: id });
    expect(chunks.at(-1)).toMatchObject({
      type: "end",
      status: "failed",
      error: "La dirección de este modelo no se admite. Avisa a quien administra o elige otro modelo.",
    });
    expect(asked).toBe(0);
  });
});
