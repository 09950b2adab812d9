import { randomBytes } from "node:crypto";
import { createCookie } from "react-router";
import { headerOf } from "../http/header.server.ts";
import type { TokenStore } from "./api-client.server.ts";

/** `duration` in ms; 0 means until it is closed. */
export type Flash = {
  id: string;
  type: "info" | "success" | "error" | "warning";
  title: string;
  description?: string;
  duration?: number;
};

type Data = {
  access?: string;
  refresh?: string;
  /** Address of the person that the proxy in front named when the session was opened (`AUTH_HEADER`). */
  proxied?: string;
  /** Proves that a form came from a page of this session. */
  formToken?: string;
};

const maxAge = 30 * 24 * 60 * 60;

type Cookie = ReturnType<typeof createCookie>;

/**
 * The web session: a signed, HTTP-only cookie with the API's tokens. Flash messages have a cookie of their own, because a response
 * that only sets a flash must not overwrite tokens that a parallel response has just rotated.
 */
export class WebSession implements TokenStore {
  readonly #data: Data;
  readonly #cookie: Cookie;
  readonly #flashCookie: Cookie;
  #changed = false;
  #flash: Flash | undefined;
  #flashChanged = false;

  private constructor(data: Data, flash: Flash | undefined, cookie: Cookie, flashCookie: Cookie) {
    this.#data = data;
    this.#flash = flash;
    this.#cookie = cookie;
    this.#flashCookie = flashCookie;
  }

  /** The session of a request. `key` signs; over HTTPS the cookie is bound to the host by its name. */
  static async open(request: Request, key: Buffer): Promise<WebSession> {
    const secure = new URL(request.url).protocol === "https:";
    const named = (name: string) =>
      createCookie(secure ? `__Host-${name}` : name, {
        secrets: [key.toString("hex")],
        httpOnly: true,
        sameSite: "strict",
        path: "/",
        secure,
        maxAge,
      });
    const [cookie, flashCookie] = [named("tertulia"), named("tertulia-aviso")];
    const sent = headerOf(request, "Cookie");
    const known = verified.get(key) ?? new Map<string, Verified>();
    verified.set(key, known);
    const identity = `${secure} ${sent}`;
    const { data, flash } = known.get(identity) ?? (await verify(sent, cookie, flashCookie));
    if (known.size >= keptVerified) known.clear();
    if (sent.length <= longestKept) known.set(identity, { data, flash });
    return new WebSession({ ...data }, flash, cookie, flashCookie);
  }

  get access(): string | undefined {
    return this.#data.access;
  }

  get refresh(): string | undefined {
    return this.#data.refresh;
  }

  get signedIn(): boolean {
    return this.#data.refresh !== undefined;
  }

  keep({ access, refresh }: { access: string; refresh: string }): void {
    // Signing in changes the form token, so that a token given to the visitor before is worth nothing (session fixation).
    if (!this.signedIn) this.#set({ formToken: newToken(), proxied: undefined });
    this.#set({ access, refresh });
  }

  get proxied(): string | undefined {
    return this.#data.proxied;
  }

  set proxied(email: string) {
    this.#set({ proxied: email });
  }

  forget(): void {
    this.#set({ access: undefined, refresh: undefined, proxied: undefined, formToken: newToken() });
  }

  get formToken(): string {
    const formToken = this.#data.formToken ?? newToken();
    if (!this.#data.formToken) this.#set({ formToken });
    return formToken;
  }

  /** Shows a flash on the next page. */
  flash(flash: Omit<Flash, "id">): void {
    this.#flash = { id: newToken(), ...flash };
    this.#flashChanged = true;
  }

  takeFlash(): Flash | undefined {
    const flash = this.#flash;
    if (flash) this.#flashChanged = true;
    this.#flash = undefined;
    return flash;
  }

  /** The Set-Cookie headers of what has changed. */
  async commit(): Promise<string[]> {
    const session = this.#changed ? [await this.#cookie.serialize(this.#data)] : [];
    if (!this.#flashChanged) return session;
    const said = this.#flash
      ? await this.#flashCookie.serialize(this.#flash)
      : await this.#flashCookie.serialize("", { maxAge: 0 });
    return [...session, said];
  }

  #set(change: { [Key in keyof Data]: Data[Key] | undefined }): void {
    Object.assign(this.#data, change);
    this.#changed = true;
  }
}

type Verified = { data: Data; flash: Flash | undefined };

// Verified values of each key, by the header that they came in. Checking a signature takes longer than much of what a page does, and a
// browser sends the same header with each request.
const verified = new WeakMap<Buffer, Map<string, Verified>>();
const keptVerified = 1_000;
// In characters; the cookies that we set are half as long.
const longestKept = 2_000;

async function verify(sent: string, cookie: Cookie, flashCookie: Cookie): Promise<Verified> {
  const data: unknown = await cookie.parse(sent);
  const flash: Flash | null = await flashCookie.parse(sent);
  return { data: isData(data) ? data : {}, flash: flash ?? undefined };
}

const isData = (data: unknown): data is Data => data !== null && typeof data === "object";

const newToken = () => randomBytes(18).toString("base64url");
