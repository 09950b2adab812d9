import { expect, it, onTestFinished } from "vitest";
import { startIdentityProvider } from "../support/identity-provider.ts";
import { hasPrograms } from "../support/programs.ts";
import { freePort, startServer } from "../support/server.ts";
import { Terminal } from "./terminal.ts";

it.runIf(hasPrograms("tmux", "w3m"))("w3m comes in by a provider, and is where it was going", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await startIdentityProvider([`${url}/auth/oidc/callback`]);
  provider.people.set("ana", { email: "ana@casa.es", email_verified: true, name: "Ana Gil" });
  const server = await startServer({
    PORT: String(port),
    PUBLIC_URL: url,
    PASSWORD_SIGNIN: "off",
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: "la Casa",
  });
  const w3m = new Terminal(`w3m -cookie -o confirm_qq=0 ${url}/conversation/project`);
  onTestFinished(async () => {
    await w3m.close();
    await Promise.all([server.stop(), provider.stop()]);
  });
  const press = (text: string) => {
    w3m.press("/");
    w3m.type(text);
    w3m.press("Enter", "Enter");
  };
  await w3m.shows("Entrar con la Casa");
  expect(await w3m.screen()).not.toContain("Contraseña");
  press("Entrar con");
  await w3m.shows("Sign-in");
  w3m.press("Tab", "Enter");
  await w3m.shows(/TEXT:/);
  w3m.type("ana");
  w3m.press("Enter", "Tab", "Enter");
  await w3m.shows(/Password:/);
  w3m.type("x");
  w3m.press("Enter", "Tab", "Enter");
  await w3m.shows("Continue");
  press("Continue");
  await w3m.shows("Crear proyecto");
  await w3m.shows("Ana Gil");
});
