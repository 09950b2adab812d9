import { z } from "@hono/zod-openapi";
import type { ArtifactRow, ArtifactVersionRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Person } from "../env.server.ts";
import { id, line, rowFields, timesOf } from "../http/schemas.server.ts";

const kind = z.enum(["text", "table", "code"], "Un escrito es un texto, una tabla o un programa.");

/** The link by which anyone may read an artifact. */
export const artifactShare = z
  .object({ token: z.string(), version: z.number().openapi({ description: "La versión que se lee por él." }) })
  .openapi("ArtifactShare");

/** An artifact without its text. */
export const artifact = z
  .object({
    ...rowFields,
    userId: z.string(),
    chatId: z.string().nullable().openapi({ description: "La conversación en la que se escribe." }),
    projectId: z.string().nullable().openapi({ description: "El proyecto cuyos miembros lo leen." }),
    fileId: z
      .string()
      .nullable()
      .openapi({ description: "El archivo con su última versión, por el que se encuentra." }),
    kind,
    title: z.string(),
    language: z.string().nullable().openapi({ description: "De un programa." }),
    version: z.number().openapi({ description: "La última; 0 mientras se escribe la primera." }),
    temporary: z.boolean().openapi({ description: "Se borra con la sesión en la que se escribió." }),
    mayChange: z.boolean(),
    share: artifactShare
      .nullable()
      .openapi({ description: "Su enlace; null si no se comparte, o no es de quien lee." }),
  })
  .openapi("Artifact");

const writer = z.object({
  person: z.boolean().openapi({ description: "false: un modelo." }),
  name: z.string().nullable().openapi({ description: "null: ya no existe." }),
});
export const artifactVersion = z
  .object({ n: z.number(), createdAt: z.string(), writer, reason: z.string(), length: z.number() })
  .openapi("ArtifactVersion");
export const wholeArtifact = artifact
  .extend({
    text: z.string(),
    shown: artifactVersion
      .nullable()
      .openapi({ description: "La versión que es; null mientras se escribe la primera." }),
  })
  .openapi("WholeArtifact");

// Not trimmed: blanks at the beginning are part of a program.
const body = z
  .string("El texto tiene que ser un texto.")
  // Forms send two characters for the end of a line.
  .transform((value) => value.replaceAll("\0", "").replaceAll("\r\n", "\n"))
  .refine(
    ({ length }) => length <= limits.artifact,
    `Un escrito puede tener ${limits.artifact.toLocaleString("es")} letras como mucho.`,
  );
const reason = line("El motivo", limits.artifactReason);
const language = line("El lenguaje", 40);

export const newArtifact = z.strictObject({
  title: line("El título", limits.chatTitle, 1),
  kind: kind.default("text"),
  language: language.default(""),
  text: body,
  reason: reason.default(""),
  chatId: id.nullable().default(null),
  projectId: id.nullable().default(null),
});
export const artifactChange = z.strictObject({
  title: line("El título", limits.chatTitle, 1).optional(),
  kind: kind.optional(),
  language: language.optional(),
  text: body.optional(),
  reason: reason.optional(),
  projectId: id.nullable().optional(),
  chatId: id.optional().openapi({ description: "La conversación en la que se sigue escribiendo." }),
});

/** An artifact as the API shows it to this person. */
export const showArtifact = (row: ArtifactRow, person: Pick<Person, "id">): z.output<typeof artifact> => ({
  id: row.id,
  ...timesOf(row),
  userId: row.userId,
  chatId: row.userId === person.id ? row.chatId : null,
  projectId: row.projectId,
  fileId: row.fileId,
  kind: row.kind,
  title: row.title,
  language: row.language,
  version: Number(row.version),
  temporary: row.sessionId !== null,
  mayChange: row.userId === person.id,
  share: row.userId === person.id ? showArtifactShare(row) : null,
});

export const showArtifactShare = ({
  shareToken,
  sharedVersion,
}: Pick<ArtifactRow, "shareToken" | "sharedVersion">): z.output<typeof artifactShare> | null =>
  shareToken === null ? null : { token: shareToken, version: Number(sharedVersion) };

type Named = Pick<ArtifactVersionRow, "n" | "createdAt" | "writerId" | "reason"> & {
  length: number;
  personName: string | null;
  modelName: string | null;
};

export const showVersion = (row: Named): z.output<typeof artifactVersion> => ({
  n: Number(row.n),
  createdAt: timesOf({ createdAt: row.createdAt, updatedAt: row.createdAt }).createdAt,
  writer: { person: row.writerId !== null, name: row.personName ?? row.modelName },
  reason: row.reason,
  length: Number(row.length),
});
