import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const pageAfter = async (browser: Browser, answer: Response) => readable(await (await browser.follow(answer)).text());

/** Events, and the words that a person reads. More of them are in tests/e2e. */
const catalogue: [what: string, words: string, happen: (browser: Browser) => Promise<string>][] = [
  [
    "a sign-up with a known e-mail",
    "El usuario ya se encuentra registrado en la plataforma",
    async (browser) => {
      const email = await browser.signUp();
      const other = new Browser(server.url);
      const answer = await other.submit("/auth/signup", "/auth/signup", { name: "Otra", email, password });
      return pageAfter(other, answer);
    },
  ],
  [
    "a session that can't be refreshed",
    "Session expirada, por favor inicia sesión nuevamente.",
    async (browser) => {
      await browser.signUp();
      const elsewhere = new Browser(server.url);
      for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
      await elsewhere.submit("/user", "/auth/signout", {});
      return pageAfter(browser, await browser.fetch("/conversation/chat"));
    },
  ],
  ["a path that is not there", "Page Not Found: /nada", async (browser) => readable(await browser.html("/nada"))],
];

// «Conexión perdida con el servidor» and «Error de conexión con el servidor» stand in tests/e2e/realtime-with-script.spec.ts,
// «No response body reader available» in calls.test.ts.
describe("errors in words", () => {
  it.each(catalogue)("%s says «%s»", async (_what, words, happen) => {
    expect(await happen(new Browser(server.url))).toContain(words);
  });
});
