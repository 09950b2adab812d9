import { randomInt } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { expressionBuilder, sql } from "kysely";
import { readHouse } from "../../db/house.server.ts";
import type { RoomRow, Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { textsIn } from "../../process/text/json.ts";
import { findAssistant } from "../assistants/assistants.server.ts";
import type { Person, Services } from "../env.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid, Problem } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, id, iso, line, rowFields, timesOf } from "../http/schemas.server.ts";
import { endGuests, readFor, stopWritten } from "./guest.server.ts";
import { whyNotOpening } from "./opening.server.ts";

const e = expressionBuilder<Tables, "rooms">();

const count = (label: string, most: number) =>
  z
    .number(`${label} tiene que ser un número.`)
    .int(`${label} tiene que ser un número entero.`)
    .min(1, `${label}: 1 como poco.`)
    .max(most, `${label}: ${most.toLocaleString("es")} como mucho.`);

const priced = "Lo que puede costar es un número mayor que cero.";
const body = z.strictObject({
  name: line("El nombre", limits.name, 1),
  assistantId: id.nullable().openapi({
    description: "Con quién se habla: un asistente que puedas usar. null: solo si ya no existe.",
  }),
  fileIds: z
    .array(id, "fileIds tiene que ser una lista.")
    .max(limits.assistantFiles, `Un asistente busca en ${limits.assistantFiles} documentos como mucho.`)
    .nullable()
    .default(null)
    .openapi({ description: "En cuáles de los documentos del asistente se busca; null: en todos." }),
  endsAt: z.iso
    .datetime({ offset: true, error: "La fecha no es válida." })
    .openapi({ description: "Hasta cuándo se puede preguntar." }),
  people: count("El número de personas", limits.roomPeople).default(40),
  messages: count("El número de mensajes", limits.roomMessages)
    .default(1_000)
    .openapi({ description: "Entre todas las personas." }),
  budget: z
    .number(priced)
    .positive(priced)
    .nullable()
    .default(null)
    .openapi({ description: "Entre todas, en la moneda de los precios del modelo; null: lo que dé tu plan." }),
  showsTexts: flag.default(false).openapi({
    description: "Si quien la abre lee lo que se escribe. Se decide al abrirla: a quien entra se le dice.",
  }),
  isOpen: flag.default(true).openapi({ description: "false: nadie entra ni pregunta." }),
});

const shown = z
  .object({
    ...rowFields,
    userId: z.string(),
    code: z.string().openapi({ description: "El final de su dirección, /sala/…" }),
    name: z.string(),
    assistantId: z.string().nullable().openapi({ description: "null: el asistente ya no existe." }),
    fileIds: z.array(z.string()).nullable(),
    endsAt: z.string(),
    people: z.number(),
    messages: z.number(),
    budget: z.number().nullable(),
    showsTexts: z.boolean(),
    isOpen: z.boolean(),
    joined: z.number().openapi({ description: "Cuántas personas han entrado." }),
    asked: z.number(),
    spent: z.number(),
  })
  .openapi("Room");

// Easy to copy from paper: without 0, 1, i, l and o.
const letters = "abcdefghjkmnpqrstuvwxyz23456789";
const codeLength = 10;
const newCode = () => Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join("");
const newRoom = ({ id: userId }: Person) => ({ userId, code: newCode(), joined: 0, asked: 0, spent: 0 });

const isOwn = (row: RoomRow, person: Person) => row.userId === person.id || isAdmin(person);

/** Rooms, in which people without an account talk with an assistant of the room's host, who pays. */
export const rooms: Resource<"rooms", typeof shown, typeof body, "patch"> = {
  table: "rooms",
  name: "room",
  method: "patch",
  shown,
  body,
  show: (row) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "showsTexts", "isOpen"),
    fileIds: row.fileIds === null ? null : textsIn(row.fileIds),
    endsAt: iso(Number(row.endsAt)),
    // PostgreSQL gives its large numbers as texts.
    ...{ people: Number(row.people), messages: Number(row.messages) },
    ...{ joined: Number(row.joined), asked: Number(row.asked) },
  }),
  async columns(given, { services, person, before, now }) {
    const fileIds = given.fileIds && JSON.stringify(given.fileIds);
    const { userId, code, joined, asked, spent } = before ?? newRoom(person);
    const columns = { ...given, userId, fileIds, endsAt: Date.parse(given.endsAt) };
    await check(services, person, columns, before, now);
    return { ...columns, code, joined, asked, spent };
  },
  async inTransaction(trx, { userId }, before) {
    if (before) return;
    const of = trx.selectFrom("rooms").where("userId", "=", userId);
    const { total } = await of.select(sql<number>`count(*)`.as("total")).executeTakeFirstOrThrow();
    if (Number(total) > limits.rooms)
      throw invalid("name", `Puedes tener ${limits.rooms} salas; elimina antes alguna.`);
  },
  // A question, like the end of a reply, locks guest and chat before the room: here and below, no transaction locks the room first.
  async beforeDeletion({ id: roomId }, { services }) {
    await services.db.updateTable("rooms").set({ isOpen: 0 }).where("id", "=", roomId).execute();
    await endGuests(services, (guests) => guests.where("roomId", "=", roomId));
  },
  async afterCommit(row, { services, before }) {
    const { db } = services;
    const guests = db.selectFrom("sessions").where("roomId", "=", row.id).select("id");
    if (before && row.assistantId !== before.assistantId) {
      const { assistantId } = row;
      await db.updateTable("chats").set({ assistantId }).where("sessionId", "in", guests).execute();
    }
    if (before && Number(row.endsAt) !== Number(before.endsAt)) {
      const until = Number(row.endsAt) + readFor;
      const kept = { refreshExpiresAt: until, endsAt: until };
      await db.updateTable("sessions").set(kept).where("roomId", "=", row.id).execute();
    }
    if (before?.isOpen === 1 && row.isOpen === 0)
      await stopWritten(services, (sessions) => sessions.where("roomId", "=", row.id));
    return row;
  },
  sees: (person) => (isAdmin(person) ? sql<boolean>`true` : e("rooms.userId", "=", person.id)),
  mayChange: isOwn,
  byPeople: true,
  searchesPeople: true,
  list: {
    searched: ["name"],
    sortable: [
      { number: "createdAt", direction: "desc" },
      { text: "name", direction: "asc" },
      { number: "endsAt", direction: "desc" },
    ],
    filters: { userId: "text", isOpen: "flag" },
  },
  says: {
    list: "Las salas de la persona; para administradores, todas.",
    item: "La sala.",
    created: "La sala, abierta.",
    changed: "La sala, cambiada.",
    deleted: "La sala y lo que se ha escrito en ella ya no existen.",
  },
};

type Given = Pick<RoomRow, "userId" | "fileIds" | "endsAt"> &
  Pick<z.output<typeof body>, "assistantId" | "showsTexts" | "isOpen">;

/** Throws 403 for people who may not open rooms, and 422 for invalid settings. */
async function check(
  { db }: Services,
  person: Person,
  { userId, assistantId, fileIds, endsAt, showsTexts, isOpen }: Given,
  before: RoomRow | undefined,
  now: number,
): Promise<void> {
  if (isOpen && !before?.isOpen) await refuseOpening(db, person);
  const isNewEnd = endsAt !== Number(before?.endsAt);
  if (isNewEnd && endsAt <= now) throw invalid("endsAt", "Ese momento ya ha pasado.");
  if (isNewEnd && endsAt > now + limits.roomTime) throw invalid("endsAt", "Una sala dura noventa días como mucho.");
  if (before && showsTexts !== (before.showsTexts === 1)) {
    throw invalid("showsTexts", "Se decide al abrir la sala: a quien ha entrado ya se le ha dicho.");
  }
  if (before && assistantId === before.assistantId && fileIds === before.fileIds) return;
  const assistant = await findAssistant(db, { id: userId }, assistantId ?? "").catch((error) => {
    if (!(error instanceof Problem)) throw error;
    throw invalid("assistantId", "Ese asistente ya no está disponible. Elige otro.");
  });
  const lent = textsIn(assistant.fileIds);
  if (fileIds && textsIn(fileIds).some((fileId) => !lent.includes(fileId))) {
    throw invalid("fileIds", "Alguno de esos documentos no es de ese asistente.");
  }
}

/** Throws 403 for a person who may not open rooms. */
async function refuseOpening(db: Services["db"], person: Person): Promise<void> {
  const why = whyNotOpening(await readHouse(db), person);
  if (why) throw new Problem(403, why);
}
