import { hc } from "hono/client";
import type { Api } from "../api/api.server.ts";
import type { InProcess } from "../api/env.server.ts";
import { ReceivedForm } from "../http/received-form.server.ts";
import type { Chunk } from "../replies/chunk.ts";

/** Store of a person's tokens between requests: the web side's session cookie. */
export type TokenStore = {
  access: string | undefined;
  refresh: string | undefined;
  keep(tokens: { access: string; refresh: string }): void;
  forget(): void;
};

// In ms: how long the reads of a page share the lookup of the person.
const sharedFor = 5_000;

type Send = (request: Request, inProcess?: InProcess) => Response | Promise<Response>;

const handedOver = new WeakMap<Response, AsyncGenerator<Chunk[]>>();

/** Sends a call, with the values that need not be serialised if the API is in this process. */
async function sendHere(
  send: Send,
  input: RequestInfo | URL,
  init: RequestInit,
  people: InProcess["people"],
): Promise<Response> {
  const received = init.body instanceof ReceivedForm ? init.body : undefined;
  let chunks: AsyncGenerator<Chunk[]> | undefined;
  const handOver = (given: AsyncGenerator<Chunk[]>) => {
    chunks = given;
  };
  const request = new Request(input, { ...init, ...(received && { body: null }) });
  const response = await send(request, { received, handOver, people });
  if (chunks) handedOver.set(response, chunks);
  return response;
}

/** The chunks of a reply that an API in this process has handed over in place of the body of this response. */
export const chunksHandedOver = (response: Response): AsyncGenerator<Chunk[]> | undefined => handedOver.get(response);

/**
 * The typed client of the API for one request of one person. `send` calls it, in process or over HTTP. After a 401 the tokens are refreshed
 * once, however many calls run in parallel, and the call is repeated; a read is repeated even if the refresh ends the session.
 */
export function createClient(send: Send, tokens: TokenStore) {
  const begun = Date.now();
  const rotated: Rotation[] = [];
  let refreshing: Promise<boolean> | undefined;
  let people: InProcess["people"] = new Map();
  let inspected: string | undefined;

  async function call(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    // A write may change who the person is or what they may do, so each later call looks the person up again; so does a call of a slow
    // page, as while a long form comes in.
    if ((init?.method ?? "GET") !== "GET" || Date.now() - begun > sharedFor) people = undefined;
    const attempt = () => {
      const headers = new Headers(init?.headers);
      if (tokens.access) headers.set("Authorization", `Bearer ${tokens.access}`);
      return sendHere(send, input, { ...init, headers }, people);
    };
    const response = await attempt();
    inspected = response.headers.get("Asks-Purpose") ?? inspected;
    if (response.ok && refreshCookie(response)) await keepTokens(response.clone());
    // A refused bearer token can be renewed; a wrong password, which is a 401 as well, can't.
    const isRefused = response.status === 401 && response.headers.has("WWW-Authenticate");
    if (!isRefused || !tokens.refresh) return response;
    refreshing ??= catchUp();
    const isOpen = await refreshing;
    // A person whose session has ended reads as a visitor does: public pages stay public.
    const isVisitor = tokens.access === undefined && (init?.method ?? "GET") === "GET";
    return isOpen || isVisitor ? attempt() : response;
  }

  /**
   * A request with a long upload may hold tokens that parallel requests have rotated since it began; it continues with
   * theirs.
   */
  async function catchUp(): Promise<boolean> {
    const own = tokens.refresh;
    for (let later = rotatedSince(begun, own); later; later = rotatedSince(begun, later.refresh)) tokens.keep(later);
    if (tokens.refresh !== own) {
      const headers = { Authorization: `Bearer ${tokens.access}` };
      if ((await send(new Request("http://api/auth/session", { headers }))).ok) return true;
    }
    return refresh();
  }

  async function refresh(): Promise<boolean> {
    const before = tokens.refresh ?? "";
    const headers = { Cookie: `refresh=${before}` };
    const response = await send(new Request("http://api/auth/refresh", { method: "POST", headers }));
    if (response.ok) {
      await keepTokens(response);
      rotated.push(noteRotation(before, tokens));
    } else if (response.status === 401) {
      tokens.forget();
    }
    return response.ok;
  }

  async function keepTokens(response: Response): Promise<void> {
    const refresh = refreshCookie(response);
    const access = await response.text();
    if (refresh) tokens.keep({ access, refresh });
  }

  return {
    client: escaping(hc<Api>("http://api", { fetch: call })),
    /** The thing that the API has refused to an administrator without a purpose: its kind and id, as a path. */
    asksPurpose: () => inspected,
    /** Call when the response is sent: from then on the browser has the rotated tokens, and later reads look the person up again. */
    answered() {
      people = undefined;
      for (const rotation of rotated) rotation.at = Date.now();
    },
  };
}

/** A client whose values in paths stay values: Hono's puts them in as they are, so that one with a slash would lead to another call. */
function escaping<Called extends object>(client: Called): Called {
  return new Proxy(client, {
    get(target, name) {
      const inner: unknown = Reflect.get(target, name);
      return typeof inner === "function" ? escaping(inner) : inner;
    },
    apply: (target, self, [given, ...rest]: [Given | undefined, ...unknown[]]) =>
      Reflect.apply(target as never, self, [given?.param ? { ...given, param: escaped(given.param) } : given, ...rest]),
  });
}

type Given = { param?: Record<string, string> };

const escaped = (values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      // Dots alone lead upwards in an address, also when they are encoded.
      encodeURIComponent(value).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%252E")),
    ]),
  );

export type Client = ReturnType<typeof createClient>["client"];

/** `at`: when the response with the new cookie was sent; Infinity until then. */
type Rotation = { access: string; refresh: string; made: number; at: number };
// In ms: as long as a request may take (`requestTimeout` in server.ts).
const rotationsKept = 30 * 60_000;
const rotations = new Map<string, Rotation>();

function noteRotation(before: string, { access = "", refresh = "" }: TokenStore): Rotation {
  const made = Date.now();
  for (const [token, rotation] of rotations) {
    if (made - rotation.made < rotationsKept) break;
    rotations.delete(token);
  }
  const rotation = { access, refresh, made, at: Number.POSITIVE_INFINITY };
  if (refresh !== before) rotations.set(before, rotation);
  return rotation;
}

/**
 * The successor of a refresh token, but only for requests that began before that was delivered. A later request with the old token may come
 * from a stolen copy and must not get the new tokens.
 */
function rotatedSince(begun: number, refresh: string | undefined): Rotation | undefined {
  const rotation = refresh && rotations.get(refresh);
  return rotation && rotation.at >= begun ? rotation : undefined;
}

function refreshCookie(response: Response): string | undefined {
  for (const cookie of response.headers.getSetCookie()) {
    const match = /^refresh=([^;]+)/.exec(cookie);
    if (match?.[1]) return decodeURIComponent(match[1]);
  }
}
