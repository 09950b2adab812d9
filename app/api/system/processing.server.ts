import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { readHouse } from "../../db/house.server.ts";
import type { ModelRow, ToolRow } from "../../db/tables.ts";
import type { EventsDestination } from "../../process/events-url.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { parseGroupIds } from "../groups/group-ids.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answers, bearer, isoOrNull } from "../http/schemas.server.ts";

const kinds = ["accounts", "chats", "messages", "files", "usage", "audit", "opinions", "emails"] as const;

const shown = z
  .object({
    controller: z.object({
      name: z.string().nullable(),
      contact: z.string().nullable(),
      dataProtectionOfficer: z.string().nullable(),
    }),
    kept: z.array(
      z.object({
        kind: z.enum(kinds),
        count: z.number(),
        rules: z
          .array(z.object({ days: z.number(), group: z.string().nullable(), keepsPinned: z.boolean() }))
          .openapi({ description: "Cuántos días se conserva; vacía: hasta que se elimina." }),
      }),
    ),
    holds: z.number(),
    recipients: z
      .array(
        z.object({
          kind: z.enum([
            "model",
            "searchModel",
            "voiceModel",
            "tool",
            "access",
            "mail",
            "mailIn",
            "database",
            "redis",
            "storage",
            "backup",
            "events",
          ]),
          name: z.string(),
          host: z.string().nullable().openapi({ description: "null: no sale de esta máquina." }),
          pseudonyms: z.boolean().nullable(),
          groups: z.array(z.string()).nullable().openapi({ description: "null: para todas las personas." }),
        }),
      )
      .openapi({ description: "A dónde van los datos." }),
    security: z.object({
      https: z.boolean(),
      passwords: z.boolean(),
      withSecondStep: z.number(),
      administrators: z.number(),
      adminReads: z
        .enum(["open", "reason", "never"])
        .openapi({ description: "Si quien administra lee lo de otras personas: siempre, si dice para qué, o nunca." }),
      terms: z.array(z.string()).openapi({ description: "Las páginas que todas las personas aceptan." }),
      secondStep: z.enum(["optional", "admins", "all"]).openapi({ description: "De quién es obligatoria." }),
      sessionHours: z.number().nullable(),
      idleMinutes: z.number().nullable(),
      signup: z.enum(["open", "domains", "closed"]).openapi({ description: "Quién puede crear una cuenta." }),
      accesses: z.number().openapi({ description: "Cuántos proveedores hay con los que se entra." }),
      openAccesses: z.number().openapi({ description: "Cuántos dan cuenta a cualquiera que entre." }),
      events: z.boolean().openapi({ description: "Si la auditoría se manda a un SIEM." }),
      accessLog: z.boolean(),
      metrics: z.boolean().openapi({ description: "Si hay métricas que vigilar." }),
      mails: z.boolean().openapi({ description: "Si sale correo." }),
      embedded: z.boolean().openapi({ description: "Si la base de datos es la embebida." }),
      rooms: z.enum(["nobody", "admins", "all"]).openapi({ description: "Quién puede abrir salas." }),
      minorGroups: z.array(z.string()).openapi({ description: "Los grupos de menores." }),
      nightlyCopies: z.enum(["none", "plain", "encrypted"]),
      lastCopyAt: z.string().nullable(),
    }),
  })
  .openapi("Processing");
type Processing = z.output<typeof shown>;

/** The record of processing (GDPR, article 30), as far as the installation knows it itself. */
export const processing = new OpenAPIHono<ApiEnv>().openapi(
  createRoute({
    method: "get",
    path: "/",
    security: bearer,
    middleware: [signedIn, noProgram, admin],
    responses: { 200: answers(shown, "Qué se guarda, cuánto tiempo y a dónde va.") },
  }),
  async (c) => {
    const { services } = c.var;
    const { db, config } = services;
    const [kept, recipients, security] = await Promise.all([keptOf(db), recipientsOf(services), securityOf(services)]);
    const { name = null, contact = null, dataProtectionOfficer = null } = config.controller;
    const controller = { name, contact, dataProtectionOfficer };
    return c.json({ controller, ...kept, recipients, security }, 200);
  },
);

/** Rows of these tables, each counted by the database. */
const counted = sql<Record<(typeof kinds)[number] | "holds", number>>`select
  (select count(*) from users) as accounts, (select count(*) from chats) as chats,
  (select count(*) from messages) as messages, (select count(*) from files) as files,
  (select count(*) from usage) as usage, (select count(*) from audit) as audit,
  (select count(*) from opinions) as opinions, (select count(*) from emails) as emails,
  (select count(*) from holds) as holds`;

async function keptOf(db: Db): Promise<Pick<Processing, "kept" | "holds">> {
  const [counts] = (await counted.execute(db)).rows;
  const rules = await db
    .selectFrom("retentions")
    .leftJoin("groups", "groups.id", "retentions.groupId")
    .orderBy("days")
    .select(["kind", "days", "keepsPinned", "groups.name as group"])
    .execute();
  // Messages and opinions go with their chats.
  const ruled = (kind: string) => (kind === "messages" || kind === "opinions" ? "chats" : kind);
  const kept = kinds.map((kind) => ({
    kind,
    count: Number(counts?.[kind]),
    rules: rules
      .filter((rule) => rule.kind === ruled(kind))
      .map(({ days, group, keepsPinned }) => ({ days, group, keepsPinned: keepsPinned === 1 })),
  }));
  return { kept, holds: Number(counts?.holds) };
}

const hosts: Record<ModelRow["provider"], string | null> = {
  openai: "api.openai.com",
  anthropic: "api.anthropic.com",
  google: "generativelanguage.googleapis.com",
  "openai-compatible": null,
  ollama: null,
  local: null,
};
// Hosts of tools whose address is known beforehand.
const toolHosts: Partial<Record<ToolRow["kind"], string>> = {
  brave: "api.search.brave.com",
  tavily: "api.tavily.com",
  image: "api.openai.com",
  page: "Las páginas públicas que se piden",
};

/** The host of an address; null: it is this machine. */
function hostOf(address: string | undefined | null): string | null {
  const { hostname = "" } = (address && URL.parse(address)) || {};
  return /^(localhost|127(\.\d+){3}|\[::1\])?$/.test(hostname) ? null : hostname;
}

/** The address of a bucket, which without an endpoint is Amazon's. */
const addressOf = (bucket: { endpoint?: string | undefined } | undefined): string | undefined =>
  bucket && (bucket.endpoint ?? "https://s3.amazonaws.com");

const bucketOf = (place: Services["config"]["backup"]) => (place && "bucket" in place ? place.bucket : undefined);

const eventsAddress = (to: EventsDestination | undefined): string | undefined =>
  to?.kind === "syslog" ? `syslog://${to.host.includes(":") ? `[${to.host}]` : to.host}` : to?.url;

async function recipientsOf({ db, config }: Services): Promise<Processing["recipients"]> {
  const [models, tools, accesses, groups, searchModels, voiceModels] = await Promise.all([
    db.selectFrom("models").where("enabled", "=", 1).orderBy("position").selectAll().execute(),
    db.selectFrom("tools").where("enabled", "=", 1).orderBy("position").selectAll().execute(),
    db.selectFrom("accesses").where("enabled", "=", 1).orderBy("position").selectAll().execute(),
    db.selectFrom("groups").select(["id", "name"]).execute(),
    db.selectFrom("searchModels").where("enabled", "=", 1).selectAll().execute(),
    db.selectFrom("voiceModels").where("enabled", "=", 1).selectAll().execute(),
  ]);
  const namesOf = (row: { groupIds: string | null }) =>
    parseGroupIds(row)?.map((id) => groups.find((group) => group.id === id)?.name ?? "un grupo que ya no existe") ??
    null;
  const plain = { pseudonyms: null, groups: null };
  const places = [
    { kind: "mail" as const, name: "Correo", address: config.mail?.smtpUrl },
    { kind: "mailIn" as const, name: "Buzón de preguntas", address: config.mailIn?.imap },
    { kind: "database" as const, name: "Base de datos", address: config.databaseUrl },
    { kind: "redis" as const, name: "Redis", address: config.redisUrl },
    { kind: "storage" as const, name: "Almacén de archivos", address: addressOf(config.bucket) },
    { kind: "backup" as const, name: "Copias de cada noche", address: addressOf(bucketOf(config.backup)) },
    { kind: "events" as const, name: "Avisos de seguridad", address: eventsAddress(config.events) },
  ];
  return [
    ...models.map((row) => ({
      kind: "model" as const,
      name: row.name,
      host: row.baseUrl ? hostOf(row.baseUrl) : hosts[row.provider],
      pseudonyms: row.provider === "local" ? null : row.pseudonyms === 1,
      groups: namesOf(row),
    })),
    ...searchModels.map(({ name, baseUrl }) => ({
      kind: "searchModel" as const,
      name,
      host: hostOf(baseUrl),
      ...plain,
    })),
    ...voiceModels.map(({ name, baseUrl }) => ({
      kind: "voiceModel" as const,
      name,
      host: hostOf(baseUrl),
      ...plain,
    })),
    ...tools.map((row) => ({
      kind: "tool" as const,
      name: row.name,
      host: row.address ? hostOf(row.address) : (toolHosts[row.kind] ?? null),
      pseudonyms: null,
      groups: namesOf(row),
    })),
    ...accesses.map(({ name, address }) => ({ kind: "access" as const, name, host: hostOf(address), ...plain })),
    ...places
      .filter(({ address }) => address)
      .map(({ kind, name, address }) => ({ kind, name, host: hostOf(address), ...plain })),
  ];
}

const securityCounts = sql<Record<"withSecondStep" | "administrators" | "accesses" | "openAccesses", number>>`select
  (select count(*) from authenticators where "confirmedAt" is not null) as "withSecondStep",
  (select count(*) from users where role = 'admin' and status = 'active') as administrators,
  (select count(*) from accesses where enabled = 1) as accesses,
  (select count(*) from accesses where enabled = 1 and "makesAccounts" = 1 and domains = '' and kind = 'oidc') as "openAccesses"`;

async function securityOf({ db, engine, config, lastCopy }: Services): Promise<Processing["security"]> {
  const minors = await db.selectFrom("groups").where("minors", "=", 1).select("name").execute();
  const [counts] = (await securityCounts.execute(db)).rows;
  const { secondStep, sessionHours, idleMinutes, signupDomains, opensRooms } = await readHouse(db);
  const terms = await db
    .selectFrom("pages")
    .where("mustAccept", "=", 1)
    .where("published", "=", 1)
    .select("title")
    .execute();
  return {
    https: config.publicUrl?.startsWith("https:") ?? false,
    passwords: config.passwordSignin,
    withSecondStep: Number(counts?.withSecondStep),
    administrators: Number(counts?.administrators),
    accesses: Number(counts?.accesses),
    openAccesses: Number(counts?.openAccesses),
    adminReads: config.adminReads,
    terms: terms.map(({ title }) => title),
    secondStep,
    sessionHours: sessionHours === null ? null : Number(sessionHours),
    idleMinutes: idleMinutes === null ? null : Number(idleMinutes),
    signup: config.signup === "closed" ? "closed" : signupDomains ? "domains" : "open",
    events: config.events !== undefined,
    accessLog: config.accessLog ?? false,
    metrics: config.metricsToken !== undefined,
    mails: config.mail?.smtpUrl !== undefined,
    embedded: engine === "sqlite",
    rooms: opensRooms,
    minorGroups: minors.map(({ name }) => name),
    nightlyCopies: !config.backup ? "none" : config.backupPassphrase ? "encrypted" : "plain",
    lastCopyAt: isoOrNull((await lastCopy.at().catch(() => undefined)) ?? null),
  };
}
