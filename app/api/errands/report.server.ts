import type { ErrandRow, ErrandStepRow } from "../../db/tables.ts";
import { storedJson } from "../../process/text/json.ts";
import type { Found } from "../../tools/tool.server.ts";
import type { Services } from "../env.server.ts";
import { goOnWithSeries } from "./new-errand.server.ts";
import { tellByMail } from "./tell-by-mail.server.ts";

/** The place of something that is read, as a step keeps it. */
export type FoundPlace = Pick<Found, "title" | "url" | "fileId" | "chatId" | "messageId"> & {
  position?: number | null;
  quote: string;
};

/** The place that a step of reading is about. */
export const placeIn = ({ input }: Pick<ErrandStepRow, "input">): FoundPlace => storedJson<FoundPlace>(input);

// Reason of an artifact's version that an errand has written.
const reportReason = "Encargo";

/** Makes the report an artifact, and tells its person. */
export async function endErrand(services: Services, errand: ErrandRow): Promise<void> {
  const { id, userId, modelId, title, artifactId: before } = errand;
  const text = await reportOf(services, errand);
  const written = { text, reason: reportReason, writer: { modelId }, outside: true };
  const old = before ? await ownReport(services, before) : undefined;
  const place = { userId, chatId: null, projectId: null, sessionId: null };
  const artifact =
    old?.text === text
      ? old
      : ((old && (await services.artifacts.change(old, { written }))) ??
        (await services.artifacts.add(place, { title, kind: "text", language: null }, written)));
  await services.db.updateTable("errands").set({ artifactId: artifact.id }).where("id", "=", id).execute();
  const { numUpdatedRows } = await services.db
    .updateTable("errands")
    .set({ state: "done", problem: null, updatedAt: Date.now() })
    .where("id", "=", id)
    .where("state", "=", "running")
    .executeTakeFirst();
  services.changes.tell({ userId, what: "errand" });
  if (numUpdatedRows > 0n) await tellByMail(services, errand, "está hecho.");
  await goOnWithSeries(services, errand);
}

/** The report that an errand has written, and its text; undefined where it is gone, or its person has changed it since. */
async function ownReport({ db }: Services, artifactId: string) {
  const row = await db.selectFrom("artifacts").where("id", "=", artifactId).selectAll().executeTakeFirst();
  const version = await db
    .selectFrom("artifactVersions")
    .where("artifactId", "=", artifactId)
    .where("n", "=", row?.version ?? 0)
    .select(["text", "writerId"])
    .executeTakeFirst();
  return row && version && version.writerId === null ? { ...row, text: version.text } : undefined;
}

/** The report as far as it is written: its summary, its sections, and the sources that were read, by their numbers. */
export async function reportOf(services: Pick<Services, "db">, errand: ErrandRow): Promise<string> {
  const sections = await sectionsOf(services, errand);
  const [summary] = await stepsOf(services, errand, "join");
  const read = await stepsOf(services, errand, "read");
  const sources = new Map(read.flatMap((one) => (one.source === null ? [] : [[Number(one.source), one] as const])));
  const placeOf = (n: number) => storedJson<Partial<FoundPlace>>(sources.get(n)?.input ?? "{}");
  const list = [...sources.keys()]
    .toSorted((a, b) => a - b)
    .map((n) => {
      const { title = "", url } = placeOf(n);
      const name = escaped(title);
      return `${n}. ${url ? `[${name}](<${addressIn(url)}>)` : name}`;
    });
  const cited = (text: string) =>
    text
      .split(codeIn)
      .map((part, at) =>
        at % 2 === 1
          ? part
          : part.replace(/\[(\d{1,3})\](?!\()/g, (whole, n) => {
              const { url } = placeOf(Number(n));
              return url ? `[&#91;${n}&#93;](<${addressIn(url)}>)` : whole;
            }),
      )
      .join("");
  return [
    cited(summary?.text ?? ""),
    ...sections.map(({ title, text }) => `## ${title}\n\n${cited(text)}`),
    ...(list.length > 0 ? [`## Fuentes\n\n${list.join("\n")}`] : []),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** An address without characters that would end a link in Markdown. */
const addressIn = (url: string) => url.replace(/[<>\s\\`]/g, encodeURIComponent);

/** A title with all characters escaped that have a meaning in Markdown. */
const escaped = (title: string) =>
  title
    .replaceAll("[", "&#91;")
    .replaceAll("]", "&#93;")
    .replace(/[\\`*_{}()+!|<>~$"^:-]/g, "\\$&");

/** Steps of a kind that are done, in the order of the report. */
export const stepsOf = ({ db }: Pick<Services, "db">, { id }: ErrandRow, kind: ErrandStepRow["kind"]) =>
  db
    .selectFrom("errandSteps")
    .where("errandId", "=", id)
    .where("kind", "=", kind)
    .where("state", "=", "done")
    .orderBy("part")
    .orderBy("position")
    .selectAll()
    .execute();

/** Parts of the report that are written. */
export async function sectionsOf(
  services: Pick<Services, "db">,
  errand: ErrandRow,
): Promise<{ title: string; text: string }[]> {
  const written = await stepsOf(services, errand, "write");
  return written.map(({ input, text }) => ({ title: input, text: text ?? "" }));
}

/** Numbers of the sources that were read. */
export async function sourceNumbers(services: Services, errand: ErrandRow): Promise<Set<number>> {
  const read = await stepsOf(services, errand, "read");
  return new Set(read.flatMap(({ source }) => (source === null ? [] : Number(source))));
}

const codeIn = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/;

/** A text that cites only known sources, each number between its own brackets; code stays as it is. */
export function withKnownSources(text: string, known: Set<number>): string {
  const cited = (part: string) =>
    part
      .replace(/【(\d{1,3})[^【】\n]{0,40}】/g, "[$1]")
      .replace(/ ?\[(\d{1,3}(?:\s{0,2}[,;]\s{0,2}\d{1,3}){0,9})\](?:\([^()\n]{0,500}\))?/g, (whole, list: string) => {
        const numbers = list
          .split(/[,;]/)
          .map(Number)
          .filter((n) => known.has(n));
        return numbers.length > 0 ? `${whole.startsWith(" ") ? " " : ""}${numbers.map((n) => `[${n}]`).join("")}` : "";
      });
  const parts = text.split(codeIn).map((part, n) => (n % 2 === 1 ? part : cited(part)));
  // Code without end would swallow what stands below it.
  const marks = text.match(/^\s{0,3}```/gm)?.length ?? 0;
  return parts.join("") + (marks % 2 === 1 ? "\n```" : "");
}

/** Files of the reports of a person's errands: no report is a source of another one. */
export async function reportFiles({ db }: Services, { userId }: ErrandRow): Promise<Set<string>> {
  const reports = db
    .selectFrom("artifactVersions")
    .where("userId", "=", userId)
    .where("reason", "=", reportReason)
    .where("writerId", "is", null)
    .select("artifactId");
  const rows = await db
    .selectFrom("artifacts")
    .where("userId", "=", userId)
    .where("id", "in", reports)
    .select("fileId")
    .execute();
  return new Set(rows.flatMap(({ fileId }) => fileId ?? []));
}
