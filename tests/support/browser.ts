import { password } from "./password.ts";

/** A browser without script, as far as HTTP goes: cookies, redirects and the hidden fields of forms. */
export class Browser {
  readonly base: string;
  readonly cookies = new Map<string, string>();
  constructor(base: string) {
    this.base = base;
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.cookies.size > 0) headers.set("Cookie", [...this.cookies].map((pair) => pair.join("=")).join("; "));
    const response = await fetch(new URL(path, this.base), { redirect: "manual", ...init, headers });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.cookies.set(name, value);
    }
    return response;
  }

  async html(path: string): Promise<string> {
    return (await this.fetch(path)).text();
  }

  /** A page that is still growing, as far as it has come once it has a text: nobody waits for its end. */
  async beginningOf(path: string, text: string): Promise<string> {
    const page = await this.fetch(path);
    const reader = page.body?.pipeThrough(new TextDecoderStream()).getReader();
    let html = "";
    while (!html.includes(text)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`the page has ended: ${html}`);
      html += value;
    }
    await reader?.cancel();
    return html;
  }

  /** Fills in the last form of a page that posts to `action`, and sends it as it stands plus `fields`. */
  async submit(
    page: string,
    action: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const html = await this.html(page);
    return this.post(action, { ...hiddenFields(html, action), ...fields }, headers);
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(path, { method: "POST", body: new URLSearchParams(fields), headers });
  }

  /** Uploads files from /user/file and answers their ids, the newest first. */
  async upload(files: File[], page = "/user/file"): Promise<string[]> {
    const body = new FormData();
    for (const [name, value] of Object.entries(hiddenFields(await this.html(page), page))) body.append(name, value);
    for (const file of files) body.append("files", file);
    const answer = await this.fetch(page, { method: "POST", body });
    if (answer.status !== 303) throw new Error(`uploading answered ${answer.status}`);
    const html = await (await this.follow(answer)).text();
    return [...new Set([...html.matchAll(/"\/user\/file\/([\w-]{36})"/g)].map(([, id = ""]) => id))];
  }

  /** Sends the form of a dialog as it stands, but for some fields. */
  async change(page: string, fields: Record<string, string>): Promise<Response> {
    return this.post(page, { ...asItStands(await this.html(page), page), ...fields });
  }

  /** Signs in somebody who has an account. */
  async signIn(email: string): Promise<void> {
    const answer = await this.submit("/auth/signin", "/auth/signin", { email, password });
    if (answer.headers.get("Location") !== "/user") throw new Error(`signing in answered ${answer.status}`);
  }

  /** Follows the redirects of an answer to the page at their end. */
  async follow(response: Response): Promise<Response> {
    const location = response.headers.get("Location");
    return location && response.status < 400 ? this.follow(await this.fetch(location)) : response;
  }

  async signUp(name = "Ana"): Promise<string> {
    const email = `${name.toLowerCase().replace(/\s+/g, ".")}-${crypto.randomUUID()}@ejemplo.es`;
    const answer = await this.submit("/auth/signup", "/auth/signup", { name, email, password });
    if (answer.headers.get("Location") !== "/user") throw new Error(`sign-up answered ${answer.status}`);
    return email;
  }

  /** Sends a message, in a new chat unless told otherwise, and answers the chat's path. */
  async say(content: string, chat = "/conversation/chat"): Promise<string> {
    const answer = await this.submit(chat, chat, { content });
    const location = answer.headers.get("Location");
    if (answer.status !== 303 || !location)
      throw new Error(`sending answered ${answer.status}: ${await answer.text()}`);
    return location;
  }
}

/** Fields that a browser would send of the last form that posts to `action`, if nobody touched it. */
function asItStands(html: string, action: string): Record<string, string> {
  const form = formOf(html, action);
  const attribute = (tag: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  const inputs = [...form.matchAll(/<input [^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => !/type="(checkbox|radio)"/.test(tag) || / checked=""/.test(tag))
    .map((tag) => [attribute(tag, "name"), attribute(tag, "value")]);
  const areas = [...form.matchAll(/(<textarea [^>]*>)([\s\S]*?)<\/textarea>/g)].map(([, tag = "", text]) => [
    attribute(tag, "name"),
    text?.replace(/^\n/, ""),
  ]);
  const selects = [...form.matchAll(/(<select [^>]*>)([\s\S]*?)<\/select>/g)].map(([, tag = "", options = ""]) => [
    attribute(tag, "name"),
    attribute(/<option [^>]*selected=""[^>]*>/.exec(options)?.[0] ?? "", "value"),
  ]);
  const fields = [...inputs, ...areas, ...selects].filter(([name]) => name);
  return Object.fromEntries(fields.map(([name, value = ""]) => [name, unescapeHtml(value)]));
}

const formOf = (html: string, action: string) =>
  [...html.matchAll(/<form[^>]*>[\s\S]*?<\/form>/g)].findLast(
    ([text]) =>
      [`action="${action}"`, `action="${action}?`].some((own) => text.includes(own)) &&
      /<form[^>]*method="post"/.test(text),
  )?.[0] ?? "";

/** The hidden fields of the last form of a page that posts to `action`. */
export function hiddenFields(html: string, action: string): Record<string, string> {
  const form = formOf(html, action);
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const areas = [...form.matchAll(/<textarea name="([^"]*)" hidden=""[^>]*>([\s\S]*?)<\/textarea>/g)];
  return Object.fromEntries([...inputs, ...areas].map(([, name = "", value = ""]) => [name, unescapeHtml(value)]));
}

/** Text of a page as a person reads it, without tags and entities. */
export function readable(html: string): string {
  return unescapeHtml(
    html
      .replace(/<(script|style)[\s\S]*?<\/\1>/g, "")
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " "),
  );
}

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };
export const unescapeHtml = (html: string) =>
  html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity);
