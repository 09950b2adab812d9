import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { tokenOf } from "../../app/server/socket-upgrades.server.ts";

it.each([
  [{ "x-forwarded-proto": "https", host: "casa.es" }, ""],
  [{ "x-forwarded-proto": "wss", host: "casa.es" }, ""],
  [{ "x-forwarded-proto": "HTTPS", "x-forwarded-host": "Casa.es:443", host: "10.0.0.2:3000" }, ""],
  [{ "x-forwarded-proto": "https", host: "otra.es" }, undefined],
  [{ host: "casa.es" }, undefined],
])("an upgrade from https://casa.es behind a proxy that says %j", async (headers, token) => {
  const request = { headers: { origin: "https://casa.es", ...headers } } as unknown as IncomingMessage;
  expect(await tokenOf(request, { trustProxy: true, publicUrl: undefined }, randomBytes(32))).toBe(token);
});
