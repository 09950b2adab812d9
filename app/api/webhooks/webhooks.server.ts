import { z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import { NotTaken, send } from "../../events/webhooks.server.ts";
import { encrypt } from "../../process/crypto.server.ts";
import { invalid } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, isoOrNull, line, rowFields, serverUrl, text, timesOf } from "../http/schemas.server.ts";

const events = {
  replyEnded: flag.default(false).openapi({ description: "reply.ended: una respuesta ha acabado, como sea." }),
  personMade: flag.default(false).openapi({ description: "person.created: hay una cuenta nueva." }),
  limitReached: flag
    .default(false)
    .openapi({ description: "limit.reached: el plan de una persona no le ha dejado seguir; una vez al día." }),
};
const fields = {
  name: line("El nombre", 60, 1),
  address: serverUrl("otro programa", 1_000),
  ...events,
  enabled: flag.default(true),
};
const body = z.strictObject({
  ...fields,
  secret: text("El secreto", 200, 16)
    .nullable()
    .default(null)
    .openapi({ description: "Con el que se firma (Standard Webhooks). Sin él se queda el que había." }),
});
const shown = z
  .object({
    ...rowFields,
    ...fields,
    address: z.string(),
    hasSecret: z.boolean(),
    problem: z.string().nullable().openapi({ description: "Por qué no aceptó lo último; null: lo aceptó." }),
    triedAt: z.string().nullable(),
  })
  .openapi("Webhook");

/** Addresses of other programs that are told of events here. For admins alone. */
export const webhooks: Resource<"webhooks", typeof shown, typeof body> = {
  table: "webhooks",
  name: "webhook",
  shown,
  body,
  show: ({ secret, ...row }) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "replyEnded", "personMade", "limitReached", "enabled"),
    hasSecret: secret !== null,
    triedAt: isoOrNull(row.triedAt),
  }),
  async columns(given, { services: { toolKey }, id, before }) {
    if (before?.secret && !given.secret && before.address !== given.address) {
      throw invalid("secret", "Al cambiar la dirección hay que escribir el secreto otra vez.");
    }
    const secret = given.secret ? encrypt(given.secret, toolKey, id) : (before?.secret ?? null);
    if (given.enabled) {
      const message = JSON.stringify({ type: "test", timestamp: new Date().toISOString(), data: {} });
      await send({ id, address: given.address, secret }, toolKey, { id: newId(), body: message }).catch((error) => {
        if (!(error instanceof NotTaken)) throw error;
        throw invalid("address", `Se ha probado, y no va. ${error.message}`);
      });
    }
    return { ...given, secret, problem: null, triedAt: null };
  },
  list: {
    searched: ["name", "address"],
    sortable: [
      { text: "name", direction: "asc" },
      { text: "address", direction: "asc" },
      { number: "replyEnded", direction: "desc" },
      { number: "personMade", direction: "desc" },
      { number: "limitReached", direction: "desc" },
      { number: "enabled", direction: "desc" },
      { text: "problem", direction: "asc", mayBeEmpty: true },
    ],
    filters: { enabled: "flag" },
  },
};
