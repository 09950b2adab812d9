import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let admin: Browser;
let token: string;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  admin = new Browser(server.url);
  const email = await admin.signUp("Ana Gil");
  token = await (await call("POST", "/auth/signin", { email, password })).text();
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

const call = (method: string, path: string, json?: object) =>
  fetch(`${server.url}/v1${path}`, {
    method,
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    ...(json && { body: JSON.stringify(json) }),
  });
const idsOf = async (path: string) =>
  ((await (await call("GET", path)).json()) as { items: { id: string }[] }).items.map(({ id }) => id);

it("keeps the archive filter on the next page of conversations", async () => {
  for (let n = 0; n < 120; n++) {
    const { id } = (await (await call("POST", "/api/chat", { title: `Charla ${n}` })).json()) as { id: string };
    if (n % 2) await call("PATCH", `/api/chat/${id}`, { archived: true });
  }
  const next = async (page: string) =>
    /<a [^>]*href="([^"]*cursor=[^"]*)"/.exec(await admin.html(`/conversation/chat/organizar${page}`))?.[1] ?? "none";
  expect(await next("")).not.toContain("archivadas");
  expect(await next("?archivadas")).toContain("archivadas");
});

it("why conversations were not deleted together is said", async () => {
  const me = (await (await call("GET", "/auth/session")).json()) as { user: { id: string } };
  const { id: hold } = (await (await call("POST", "/api/hold", { userId: me.user.id })).json()) as { id: string };
  const { id } = (await (await call("POST", "/api/chat", { title: "Se queda" })).json()) as { id: string };
  const page = "/conversation/chat/organizar";
  const answer = await admin.submit(page, page, { intent: "delete", sure: "1", chat: id });
  expect(readable(await (await admin.follow(answer)).text())).toContain("ha suspendido el borrado de lo tuyo");
  expect((await call("GET", `/api/chat/${id}`)).status).toBe(200);
  await call("DELETE", `/api/hold/${hold}`);
});

it("sets and clears a model's fallback by name", async () => {
  const make = async (name: string) => {
    const json = { name, provider: "ollama", externalId: name };
    return ((await (await call("POST", "/api/model", json)).json()) as { id: string }).id;
  };
  const [id, fallbackId] = [await make("Principal"), await make("De reserva")];
  const form = `/admin/model/${id}/editar`;
  const named = async () => (await call("GET", `/api/model/${id}`)).json();
  await admin.change(form, { fallbackId: "De reserva" });
  expect(await named()).toMatchObject({ fallbackId });
  expect(await admin.html(form)).toContain('value="De reserva"');
  await admin.change(form, { fallbackId: "" });
  expect(await named()).toMatchObject({ fallbackId: null });
  for (const one of [id, fallbackId]) await call("DELETE", `/api/model/${one}`);
});

describe("the administration", () => {
  it("downloads a whole list across pages, with formulas as text", async () => {
    const names = [...Array.from({ length: 105 }, (_, n) => `Proyecto ${n}`), '=1+1 "y" más'];
    for (const name of names) expect((await call("POST", "/api/project", { name })).status).toBe(201);
    const answer = await admin.fetch("/admin/project/descargar");
    expect(answer.headers.get("Content-Disposition")).toBe('attachment; filename="project.csv"');
    const [head = "", ...lines] = new TextDecoder("utf-8", { ignoreBOM: true })
      .decode(await answer.arrayBuffer())
      .trimEnd()
      .split("\r\n");
    expect(head.startsWith('\uFEFF"Nombre";')).toBe(true);
    expect(lines.map((line) => line.split(";")[0]).toSorted()).toEqual(
      names.map((name) => `"${name.replace(/^=/, "'=").replaceAll('"', '""')}"`).toSorted(),
    );
  });

  it("takes form limits from the API, and lists existing groups", async () => {
    const person = await admin.html("/admin/user/crear");
    expect(person).toMatch(/<input[^>]*type="email"[^>]*name="email"|<input[^>]*name="email"[^>]*type="email"/);
    expect(person).toMatch(/<input[^>]*name="name"[^>]*maxLength="\d+"|<input[^>]*maxLength="\d+"[^>]*name="name"/);
    expect(await admin.html("/admin/model/crear")).toMatch(/data-max="2"/);
    const { id } = (await (await call("POST", "/api/group", { name: "Tesorería" })).json()) as { id: string };
    const page = "/admin/training/crear";
    expect(await admin.html(page)).toContain(`name="groupIds" value="${id}"`);
    const fields = { title: "Tono", kind: "instruction", content: "Frases cortas.", groupIds: id };
    expect((await admin.change(page, fields)).status).toBe(303);
    const { items } = (await (await call("GET", "/api/training")).json()) as { items: { groupIds: string[] }[] };
    expect(items.map(({ groupIds }) => groupIds)).toEqual([[id]]);
  });

  it("counts the contents that a deletion also removes", async () => {
    const { id: projectId } = (await (await call("POST", "/api/project", { name: "Obras" })).json()) as { id: string };
    const deletion = async () => readable(await admin.html(`/admin/project/${projectId}/eliminar`));
    expect(await deletion()).toContain("Se borrará el proyecto «Obras» . No se puede deshacer.");
    for (const title of ["Tejado", "Patio"]) await call("POST", "/api/chat", { title, projectId });
    expect(await deletion()).toContain(
      "Se borrará el proyecto «Obras» , y con ello 2 conversaciones . No se puede deshacer.",
    );
    const fields = hiddenFields(await admin.html("/admin/project?q=Obras"), "/admin/project?q=Obras");
    const asked = await admin.post("/admin/project?q=Obras", { ...fields, intent: "delete", item: projectId });
    expect(readable(await asked.text())).toContain("Se borrará «Obras», y con ello 2 conversaciones.");
  });

  it("shows the first setup steps with their current state", async () => {
    const panel = readable(await admin.html("/admin"));
    expect(panel).toContain("Primeros pasos");
    expect(panel).toContain("Hecho: Poner límites");
    expect(panel).toContain("Por hacer: Enviar correo");
  });

  it("offers of each thing what can be done with it", async () => {
    const [account] = await idsOf("/api/user");
    const ofPerson = readable(await admin.html(`/admin/user/${account}`));
    expect(ofPerson).toContain("Cerrar sus sesiones");
    expect(ofPerson).not.toContain("Probar");
    await vi.waitFor(async () => expect((await idsOf("/api/model")).length).toBeGreaterThan(1), 10_000);
    const [model] = await idsOf("/api/model");
    const ofModel = readable(await admin.html(`/admin/model/${model}`));
    expect(ofModel).toContain("Probar");
    expect(ofModel).not.toContain("Cerrar sus sesiones");
  });

  it("tests a model in its row and shows the answer", async () => {
    const [model = ""] = await idsOf("/api/model");
    const fields = hiddenFields(await admin.html("/admin/model"), "/admin/model");
    const answer = await admin.follow(await admin.post("/admin/model", { ...fields, test: model }));
    // A model that answers at once has no speed worth telling; on a busy machine it may seem to have one.
    expect(readable(await answer.text())).toMatch(
      /Responde Primera palabra en \d[\d,]* s\.( \d+ tokens\.)?( \d[\d.,]* tokens por segundo\.)? .*Una respuesta breve *\. Con dos frases\./,
    );
  });

  it("says only of a model's key that one exists already", async () => {
    const [model = ""] = await idsOf("/api/model");
    const form = await admin.html(`/admin/model/${model}/editar`);
    expect(form.match(/>Ya hay una clave; escribe otra para cambiarla\./g)).toHaveLength(1);
    expect(form).toMatch(/>Clave<[\s\S]{0,400}?>Ya hay una clave/);
    expect(await admin.html("/admin/model/crear")).not.toContain("Ya hay una clave");
  });

  it("accepts a picked person only with matching search words", async () => {
    const [owner = ""] = await idsOf("/api/user");
    const path = "/admin/subscription/crear";
    const give = (userId: string) => {
      const picked = { "pick.userId": owner, "for.userId": "Ana" };
      return admin.submit(path, path, {
        plan: "pro",
        status: "active",
        startsAt: "2030-01-01T00:00",
        userId,
        ...picked,
      });
    };
    expect((await give("Nadie que haya")).status).toBe(422);
    expect((await give("Ana")).status).toBe(303);
  });

  it("shows the requested columns and marks them as chosen", async () => {
    const shown = (html: string) =>
      [...html.matchAll(/<input type="checkbox" name="col"[^>]*>/g)]
        .filter(([tag]) => tag.includes('checked=""'))
        .map(([tag]) => /value="([^"]*)"/.exec(tag)?.[1]);
    const usual = await admin.html("/admin/model");
    expect(shown(usual)).toContain("provider");
    const chosen = await admin.html("/admin/model?col=externalId");
    expect(shown(chosen)).toEqual(["externalId"]);
    expect(chosen).toMatch(/<th[^>]*>(?:<[^>]*>)*Identificador/);
    expect(chosen).not.toMatch(/<th[^>]*>(?:<[^>]*>)*Proveedor/);
  });

  it("does not offer to try what is no model", async () => {
    const html = readable(await admin.html("/admin/model"));
    expect(html).toContain("Probar gpt-4o");
    expect(html).toContain("Editar Asistente local");
    expect(html).not.toContain("Probar Asistente local");
  });

  it("keeps a tool's OAuth client while choosing its tools' use", async () => {
    const oauth = { clientId: "tertulia", clientSecret: "secreto" };
    const given = { name: "Con cliente", kind: "mcp", address: "http://127.0.0.1:9/mcp", ...oauth };
    const { id } = (await (await call("POST", "/api/tool", given)).json()) as { id: string };
    const page = `/admin/tool/${id}`;
    expect((await admin.submit(page, page, { intent: "choose" })).status).toBe(303);
    expect(await (await call("GET", `/api/tool/${id}`)).json()).toMatchObject({ clientId: "tertulia" });
  });

  it("shows no secret warning while all secrets are readable", async () => {
    expect(readable(await admin.html("/admin/sistema"))).not.toMatch(/no se pueden leer|El segundo paso de/);
  });

  it("is under its admin's name and first letters", async () => {
    const html = await admin.html("/admin");
    expect(html).toMatch(/class="initials"[^>]*>AG</);
    expect(readable(html)).toContain("Ana Gil");
  });
});
