import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { factsIn } from "../../app/api/access/claims.server.ts";
import { refusedBy } from "../../app/tools/mcp/sentences.server.ts";
import type { McpServer, ToolAccess } from "../../app/tools/mcp/server.ts";
import { beginSignIn, endSignIn, signedInAt } from "../../app/tools/mcp/sign-in.server.ts";

type Fields = Record<string, unknown>;
type Sent = { status?: number; json?: unknown; text?: string; headers?: Record<string, string> };
/** Answers by their path, instead of those of a server as the protocol has it. */
type Odd = (url: string) => Record<string, Sent | (() => Sent)>;

const back = "http://127.0.0.1:9/vuelta";

/** A server of tools at `/mcp` that wants a sign-in, and its authorization server at the same place. */
async function startOdd(odd: Odd = () => ({}), given: ToolAccess = {}) {
  const asked: { path: string; fields: Fields }[] = [];
  const http = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const path = request.url ?? "";
    asked.push({ path, fields: body });
    const sent = { ...usual, ...odd(url) }[path] ?? { status: 404, json: {} };
    const { status = 200, json, text, headers } = typeof sent === "function" ? sent() : sent;
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(text ?? JSON.stringify(json ?? {}));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  onTestFinished(() => void http.close());
  const usual: Record<string, Sent> = {
    "/mcp": { status: 401 },
    "/.well-known/oauth-authorization-server": { json: metadata(url) },
    "/register": { status: 201, json: { client_id: "yo", redirect_uris: [back] } },
    "/token": { json: { access_token: "nuevo", token_type: "Bearer", refresh_token: "otro" } },
  };
  let access = given;
  const server: McpServer = {
    id: crypto.randomUUID(),
    name: "Cuentas",
    personal: false,
    version: "1",
    target: { url: `${url}/mcp` },
    secret: null,
    access: {
      read: async () => access,
      write: async (next) => {
        access = next;
      },
    },
  };
  const enter = async (more: Fields = {}) => {
    const at = await beginSignIn(server, back);
    const state = at?.searchParams.get("state") ?? "";
    await endSignIn(server, new URLSearchParams({ code: "abc", state, ...more }));
  };
  const told = (work: Promise<unknown>) => work.then(String, (error) => refusedBy(server, error).message);
  const renew = async () => {
    const { token, onUnauthorized } = signedInAt(server, `${url}/mcp`);
    await token();
    await onUnauthorized?.({} as never);
  };
  return { server, url, asked, enter, told, renew, access: () => access };
}

async function bodyOf(request: IncomingMessage): Promise<Fields> {
  let text = "";
  for await (const part of request) text += part;
  return text.startsWith("{") ? (JSON.parse(text) as Fields) : Object.fromEntries(new URLSearchParams(text));
}

const metadata = (url: string) => ({
  issuer: url,
  authorization_endpoint: `${url}/authorize`,
  token_endpoint: `${url}/token`,
  registration_endpoint: `${url}/register`,
  response_types_supported: ["code"],
  code_challenge_methods_supported: ["S256"],
});
const at = "/.well-known/oauth-authorization-server";

it.each<[string, Odd]>([
  [
    "nulls in the place of what is not there",
    (url) => ({
      [at]: { json: { ...metadata(url), scopes_supported: null, revocation_endpoint: null } },
      "/register": { status: 201, json: { client_id: "yo", client_secret: null, redirect_uris: [back] } },
      "/token": {
        json: { access_token: "nuevo", token_type: "Bearer", refresh_token: null, scope: null, id_token: null },
      },
    }),
  ],
  ["no type of the token", () => ({ "/token": { json: { access_token: "nuevo" } } })],
  [
    "Slack's token of the person",
    () => ({
      "/token": { json: { ok: true, authed_user: { id: "U1", access_token: "nuevo", token_type: "user" } } },
    }),
  ],
  [
    "tokens in the form of a query",
    () => ({ "/token": { text: "access_token=nuevo&expires_in=3600&token_type=Bearer" } }),
  ],
  [
    "metadata without what is a matter of course",
    (url) => ({ [at]: { json: { ...metadata(url), response_types_supported: undefined } } }),
  ],
  [
    "metadata of OpenID without its keys",
    (url) => ({
      [at]: { status: 404, json: {} },
      "/.well-known/openid-configuration": { json: { ...metadata(url), subject_types_supported: undefined } },
    }),
  ],
  [
    "an issuer with a slash that its address has not",
    (url) => ({ [at]: { json: { ...metadata(url), issuer: `${url}/` } } }),
  ],
])("a sign-in with %s ends well", async (_name, odd) => {
  const { enter, access } = await startOdd(odd);
  await enter();
  expect(access().tokens).toMatchObject({ access_token: "nuevo", token_type: "Bearer" });
});

it("a server that wants clients with a secret gets one that registers so", async () => {
  const { enter, asked } = await startOdd((url) => ({
    [at]: { json: { ...metadata(url), token_endpoint_auth_methods_supported: ["client_secret_post"] } },
    "/register": { status: 201, json: { client_id: "yo", client_secret: "s", redirect_uris: [back] } },
  }));
  await enter();
  const fieldsAt = (wanted: string) => asked.find(({ path }) => path === wanted)?.fields;
  expect(fieldsAt("/register")).toMatchObject({ token_endpoint_auth_method: "client_secret_post" });
  expect(fieldsAt("/token")).toMatchObject({ client_secret: "s" });
});

it("a sign-in goes where the refusal of a call says, with the scope that it names", async () => {
  const { server } = await startOdd((url) => ({
    "/mcp": {
      status: 401,
      headers: { "WWW-Authenticate": `Bearer resource_metadata="${url}/meta/prm", scope="leer escribir"` },
    },
    "/meta/prm": { json: { resource: `${url}/mcp`, authorization_servers: [`${url}/otro`] } },
    [`${at}/otro`]: { json: { ...metadata(url), issuer: `${url}/otro`, authorization_endpoint: `${url}/otro/entrar` } },
  }));
  const destination = await beginSignIn(server, back);
  expect(destination?.pathname).toBe("/otro/entrar");
  expect(Object.fromEntries(destination?.searchParams ?? [])).toMatchObject({
    scope: "leer escribir",
    resource: expect.stringMatching(/\/mcp$/),
  });
});

it.each<[string, Odd, RegExp]>([
  [
    "no way to register",
    (url) => ({ [at]: { json: { ...metadata(url), registration_endpoint: undefined } } }),
    /«Cuentas» no deja que un programa se dé de alta solo\. .*«Cliente OAuth»/,
  ],
  [
    "a registration that is refused",
    () => ({ "/register": { status: 403, json: { error: "access_denied", error_description: "Only partners" } } }),
    /dé de alta solo \(403\): «Only partners»\. .*«Cliente OAuth»/,
  ],
  [
    "an unknown client",
    () => ({ "/token": { status: 401, json: { error: "invalid_client", error_description: "Client is gone" } } }),
    /no ha dejado iniciar sesión: «Client is gone»/,
  ],
  [
    "an error with a 200",
    () => ({ "/token": { json: { error: "incorrect_client_credentials", error_description: "Wrong" } } }),
    /no ha dejado iniciar sesión: «Wrong»/,
  ],
  ["a page of HTML", () => ({ "/token": { status: 502, json: "<html>" } }), /no ha dejado iniciar sesión \(502\)\.$/],
])("%s is told as what it is", async (_name, odd, sentence) => {
  const { enter, told } = await startOdd(odd);
  expect(await told(enter())).toMatch(sentence);
});

const signedIn = (url = ""): ToolAccess => ({
  redirect: back,
  client: { client_id: "yo", redirect_uris: [back] },
  tokens: { access_token: "viejo", token_type: "Bearer", refresh_token: "viejo" },
  ...(url && { discovery: { authorizationServerUrl: url } }),
});

it.each<[string, Sent]>([
  ["has expired", { status: 400, json: { error: "invalid_grant", error_description: "Refresh token expired" } }],
  ["has expired, with a 401", { status: 401, json: { error: "invalid_grant" } }],
  ["has expired, in GitHub's words", { json: { error: "bad_refresh_token", error_description: "It expired" } }],
])("a renewal that %s asks for a sign-in, and the old tokens go", async (_name, sent) => {
  const { renew, told, access } = await startOdd(() => ({ "/token": sent }), signedIn());
  expect(await told(renew())).toBe("«Cuentas» pide que quien administra inicie sesión allí.");
  expect(access().tokens).toBeUndefined();
  expect(access().verifier).toBeUndefined();
});

it("a renewal that is refused for now keeps the tokens", async () => {
  const sent = { status: 400, json: { error: "temporarily_unavailable" } };
  const { renew, told, access } = await startOdd(() => ({ "/token": sent }), signedIn());
  await told(renew());
  expect(access().tokens).toMatchObject({ refresh_token: "viejo" });
});

it("a renewal at a server that is down keeps the tokens, and says so", async () => {
  const { renew, told, access } = await startOdd(() => ({ "/token": { status: 503, json: {} } }), signedIn());
  expect(await told(renew())).toContain("no ha podido renovar el permiso (503)");
  expect(access().tokens).toEqual(expect.objectContaining({ refresh_token: "viejo" }));
});

it("new tokens that another process has got meanwhile are used", async () => {
  const others = { access_token: "de otro", token_type: "Bearer", refresh_token: "de otro" };
  const token = (): Sent => {
    if (house.asked.at(-1)?.fields.refresh_token === "de otro") return { json: { ...others, access_token: "nuevo" } };
    void house.server.access.write({ ...house.access(), tokens: others });
    return { status: 400, json: { error: "invalid_grant" } };
  };
  const house = await startOdd(() => ({ "/token": token }), signedIn());
  await house.renew();
  expect(house.access().tokens).toMatchObject({ access_token: "nuevo" });
});

it("a client that its server has forgotten is not used again", async () => {
  const { enter, told, access } = await startOdd(() => ({
    "/token": { status: 401, json: { error: "invalid_client" } },
  }));
  await told(enter());
  expect(access().client).toBeUndefined();
});

const roles = { admin: { 283: "casa.example" }, ventas: {} };
it.each<[string, Fields, string]>([
  ["a map, as Zitadel's", { groups: roles }, "groups"],
  ["a text with commas", { groups: "admin,ventas" }, "groups"],
  ["a text with semicolons", { groups: "admin; ventas" }, "groups"],
  ["objects", { groups: [{ id: "1", name: "admin" }, { name: "ventas" }] }, "groups"],
  [
    "a place whose name has dots",
    { access: { "chat.e.es": { roles: ["admin", "ventas"] } } },
    "access.chat.e.es.roles",
  ],
  ["an address", { "https://e.es/g": ["admin", "ventas"] }, "https://e.es/g"],
])("finds a person's groups in %s", (_, claims, claim) => {
  expect(factsIn(claims, claim).groups).toEqual(expect.arrayContaining(["admin", "ventas"]));
});

it("does not split the name of a group in a list", () => {
  expect(factsIn({ groups: ["x,admin"] }, "groups").groups).toEqual(["x,admin"]);
});

it("takes the first address of a list", () => {
  expect(factsIn({ emails: ["ana@e.es"] }, "").email).toBe("ana@e.es");
  expect(factsIn({ email: ["ana@e.es"] }, "").email).toBe("ana@e.es");
});
