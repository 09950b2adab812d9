import {
  Client,
  type OAuthClientProvider,
  type OAuthTokens,
  type StoredOAuthClientInformation,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Browser, hiddenFields, readable, unescapeHtml } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let ana: Browser;
beforeAll(async () => {
  server = await startServer();
  ana = new Browser(server.url);
  await ana.signUp("Ana");
  await ana.submit("/conversation/project/crear", "/conversation/project/crear", { name: "Obras de casa" });
});
afterAll(() => server.stop());

/** A program that keeps in memory what it is given. */
class Program implements OAuthClientProvider {
  readonly redirectUrl = "http://127.0.0.1:51234/vuelta";
  readonly clientMetadata = { client_name: "Un editor", redirect_uris: ["http://127.0.0.1/vuelta"] };
  page = "";
  #client: StoredOAuthClientInformation | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";
  state = () => "un estado";
  clientInformation = () => this.#client;
  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }
  tokens = () => this.#tokens;
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.page = url.pathname + url.search;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
}

const transportOf = (program: Program) =>
  new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: program });

/** The page after the form, and the address that it leads to. */
async function answered(page: string, fields: Record<string, string>): Promise<{ html: string; back: URL }> {
  const hidden = hiddenFields(await ana.html(page), "/user/conectar");
  const html = await (await ana.post(page, { ...hidden, ...fields })).text();
  const [, refresh = ""] = /http-equiv="refresh" content="0;url=([^"]*)"/i.exec(html) ?? [];
  expect(html).toContain(`href="${refresh}"`);
  return { html, back: new URL(unescapeHtml(refresh)) };
}

async function connected(program: Program): Promise<Client> {
  const client = new Client({ name: "pruebas", version: "1" });
  await client.connect(transportOf(program));
  return client;
}

describe("the official MCP client, without a key", () => {
  let program: Program;
  beforeEach(async () => {
    program = new Program();
    await expect(connected(program)).rejects.toThrow(UnauthorizedError);
  });

  it("asks for consent in a form, then reads the account", async () => {
    const form = readable(await ana.html(program.page));
    expect(form).toContain("Conectar Un editor");
    expect(form).toContain("127.0.0.1:51234");
    const { html, back } = await answered(program.page, { scope: "write", gives: "1" });
    expect(readable(html)).toContain("Volver a 127.0.0.1:51234");
    expect(back.href).toMatch(/^http:\/\/127\.0\.0\.1:51234\/vuelta\?/);
    expect(back.searchParams.get("state")).toBe("un estado");
    await transportOf(program).finishAuth(back.searchParams);
    const client = await connected(program);
    const { content } = await client.callTool({ name: "list_projects", arguments: {} });
    expect(JSON.stringify(content)).toContain("Obras de casa");
    await client.close();
    const account = readable(await ana.html("/user/seguridad"));
    expect(account).toContain("Un editor Conectado · lee y escribe · usada");
  });

  it("is told that its person does not want it", async () => {
    const { html, back } = await answered(program.page, { scope: "write" });
    expect(readable(html)).toContain("No se ha conectado");
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: "access_denied",
      state: "un estado",
      iss: server.url,
    });
    expect(readable(await ana.html("/user/seguridad"))).not.toContain("solo lee");
  });

  it("with read access cannot write, and loses access once deleted", async () => {
    const { back } = await answered(program.page, { scope: "read", gives: "1" });
    await transportOf(program).finishAuth(back.searchParams);
    const client = await connected(program);
    const asked = await client.callTool({ name: "ask", arguments: { message: "Hola" } });
    expect(JSON.stringify(asked)).toContain("Esta clave solo puede leer.");
    const [remove = ""] =
      /\/user\/seguridad\/claves\/[\w-]{36}\/eliminar/.exec(await ana.html("/user/seguridad")) ?? [];
    expect((await ana.submit(remove, remove, {})).status).toBe(303);
    await expect(client.listTools()).rejects.toThrow("hay que conectar otra vez");
    await client.close();
  });

  it("returns to the consent page after the person signs in", async () => {
    const stranger = new Browser(server.url);
    const email = await new Browser(server.url).signUp("Berta");
    const entry = (await stranger.fetch(program.page)).headers.get("Location") ?? "";
    const answer = await stranger.post(entry, {
      ...hiddenFields(await stranger.html(entry), "/auth/signin"),
      email,
      password,
    });
    expect(answer.headers.get("Location")).toBe(program.page);
  });
});

describe("a request that says a thing twice", () => {
  it.each([
    ["redirect_uri", "https://malo.example/robo"],
    ["redirect_uri", "javascript:alert(1)"],
    ["client_id", "otro"],
    ["state", "otro"],
  ])("(%s: %s) leads nowhere, whichever stands first", async (name, value) => {
    const program = new Program();
    await expect(connected(program)).rejects.toThrow(UnauthorizedError);
    for (const query of [`?${name}=${encodeURIComponent(value)}&`, `&${name}=${encodeURIComponent(value)}`]) {
      const page = query.startsWith("?") ? program.page.replace("?", query) : program.page + query;
      expect(readable(await ana.html(page))).toContain("dice dos veces lo mismo");
      const hidden = hiddenFields(await ana.html("/user"), "/user");
      const answer = await ana.post(page, { ...hidden, scope: "write", gives: "1" });
      const html = await answer.text();
      expect(html).not.toContain("malo.example/robo?");
      expect(html).not.toContain("http-equiv");
    }
  });
});

it("asks again when another account answers a consent form", async () => {
  const program = new Program();
  await expect(connected(program)).rejects.toThrow(UnauthorizedError);
  const berta = new Browser(server.url);
  await berta.signUp("Berta");
  const hidden = hiddenFields(await ana.html(program.page), "/user/conectar");
  const answer = await berta.post(program.page, { ...hidden, scope: "write", gives: "1" });
  expect([answer.status, answer.headers.get("Location")]).toEqual([303, program.page]);
  const stranger = new Browser(server.url);
  const refused = await stranger.post(program.page, { ...hidden, scope: "write", gives: "1" });
  expect([refused.status, refused.headers.get("Location")]).toEqual([303, program.page]);
});

it.each([
  ["an address that the program has not registered", { redirect_uri: "https://otro.example/" }, "no es de las que"],
  ["a program that nobody knows", { client_id: "abc" }, "no conoce a ese programa"],
  ["another way to ask", { code_challenge_method: "plain" }, "PKCE"],
  ["another house", { resource: "https://otra.example/mcp" }, "https://otra.example/mcp, que no es esta casa"],
])("a request with %s is told so, and leads nowhere", async (_, change, sentence) => {
  const program = new Program();
  await expect(connected(program)).rejects.toThrow(UnauthorizedError);
  const url = new URL(program.page, server.url);
  for (const [name, value] of Object.entries(change)) url.searchParams.set(name, value);
  const html = await ana.html(url.pathname + url.search);
  expect(readable(html)).toContain(sentence);
  expect(html).not.toContain('otro.example/"');
  expect(html).not.toContain('name="gives"');
});
