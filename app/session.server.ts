import { randomBytes } from "node:crypto";
import { createCookie } from "react-router";
import type { TokenStore } from "./api/client.server.ts";

/** `duration` in ms; 0: it stays until it is closed. */
export type Notice = {
  id: string;
  type: "info" | "success" | "error" | "warning";
  title: string;
  description?: string;
  duration?: number;
};

type Data = {
  access?: string;
  refresh?: string;
  /** Proves that a form came from a page of this session. */
  formToken?: string;
  notice?: Notice;
};

const maxAge = 30 * 24 * 60 * 60;

/** The web side's session: a signed cookie that scripts can't read, with the API's tokens in it (product.md §6). */
export class WebSession implements TokenStore {
  readonly #data: Data;
  readonly #cookie: ReturnType<typeof createCookie>;
  #changed = false;

  private constructor(data: Data, cookie: ReturnType<typeof createCookie>) {
    this.#data = data;
    this.#cookie = cookie;
  }

  /** The session of a request. `key` signs; over HTTPS the cookie is bound to the host by its name. */
  static async open(request: Request, key: Buffer): Promise<WebSession> {
    const secure = new URL(request.url).protocol === "https:";
    const cookie = createCookie(secure ? "__Host-tertulia" : "tertulia", {
      secrets: [key.toString("hex")],
      httpOnly: true,
      sameSite: "strict",
      path: "/",
      secure,
      maxAge,
    });
    const data: unknown = await cookie.parse(request.headers.get("Cookie"));
    return new WebSession(data !== null && typeof data === "object" ? { ...data } : {}, cookie);
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
    // A new person, a new session: nothing of the visitor's may carry over.
    if (!this.signedIn) this.#set({ formToken: newToken() });
    this.#set({ access, refresh });
  }

  forget(): void {
    this.#set({ access: undefined, refresh: undefined, formToken: newToken() });
  }

  get formToken(): string {
    if (!this.#data.formToken) this.#set({ formToken: newToken() });
    return this.#data.formToken ?? "";
  }

  /** Shows a notice on the next page. */
  flash(notice: Omit<Notice, "id">): void {
    this.#set({ notice: { id: newToken(), ...notice } });
  }

  takeNotice(): Notice | undefined {
    const { notice } = this.#data;
    if (notice) this.#set({ notice: undefined });
    return notice;
  }

  /** The Set-Cookie header, where anything has changed. */
  async commit(): Promise<string | undefined> {
    return this.#changed ? this.#cookie.serialize(this.#data) : undefined;
  }

  #set(change: { [Key in keyof Data]: Data[Key] | undefined }): void {
    Object.assign(this.#data, change);
    this.#changed = true;
  }
}

const newToken = () => randomBytes(18).toString("base64url");
