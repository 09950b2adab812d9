import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpenAPIHono } from "@hono/zod-openapi";
import { bearerOf } from "../../http/header.server.ts";
import { sameSecret } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { notFound, Problem } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { takeMail } from "./take-mail.server.ts";

/** E-mails as a mail server hands them over (`message/rfc822`), with MAIL_IN_TOKEN. Without that setting, calls are a 404. */
export const incomingMail = new OpenAPIHono<ApiEnv>().post("/", takesBodyOf(limits.incomingMail), async (c) => {
  const { services } = c.var;
  const token = services.config.mailIn?.token;
  if (!token) throw notFound();
  if (!sameSecret(bearerOf(c.req.raw), token)) {
    await countAttempt(c, "oauth", networkOf(c));
    throw new Problem(401, "Falta el token, o no es el de MAIL_IN_TOKEN.");
  }
  const folder = await mkdtemp(join(tmpdir(), "tertulia-buzon-"));
  try {
    const path = join(folder, "correo");
    await writeFile(path, Buffer.from(await c.req.arrayBuffer()));
    const taken = await takeMail(services, path);
    if (taken === "later") {
      throw new Problem(503, "Ahora no se puede. Vuelve a traerlo dentro de un momento.", {
        headers: { "Retry-After": "60" },
      });
    }
    return c.body(null, 204);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
