import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../process/config.server.ts";
import { faultOf } from "../process/fault.ts";
import { whyUnusable } from "../process/unusable.server.ts";

// SQLite's primary codes (the low byte of `errcode`).
const bySqlite: Record<number, string> = {
  8: "no deja escribir al usuario que ejecuta Tertulia: dásela con chown, con sus -wal y -shm",
  10: "está en un disco que no se puede leer o escribir",
  11: "está dañada: para el servidor y pon en su lugar la última copia buena",
  13: "está en un disco en el que no queda sitio",
  14: "no deja leer ni escribir al usuario que ejecuta Tertulia: dásela con chown",
  26: "no es una base de datos: para el servidor y pon en su lugar la última copia buena",
};

/** The sentence for an embedded database that can't be opened or brought up to date; any other error is returned as it is. */
export function explainSqlite(error: unknown, dataDir: string): unknown {
  const { errcode } = faultOf(error);
  const path = join(dataDir, "tertulia.db");
  const why = bySqlite[errcode & 0xff] ?? whyUnusable(error);
  if (!why) return error;
  const copies = (errcode & 0xff) === 11 || (errcode & 0xff) === 26 ? ` de ${join(dataDir, "backups")}` : "";
  return new ConfigError(`La base de datos ${path} ${why}${copies}.`, { cause: error });
}

// PostgreSQL's SQLSTATE codes and Node's error codes for a connection that can't be made.
const byPostgres: [RegExp, string][] = [
  [/^ECONNREFUSED/, "en esa dirección no escucha nadie"],
  [/^(ENOTFOUND|EAI_AGAIN)/, "esa máquina no se encuentra"],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/, "esa máquina no contesta"],
  [/^28/, "no acepta ese usuario o esa clave"],
  [/^3D000/, "no existe una base con ese nombre: créala antes"],
  [/^42501/, "ese usuario no puede crear tablas en ella"],
  [/^25006/, "solo deja leer"],
  [/^53300/, "no admite más conexiones"],
  [/^57P03/, "está arrancando"],
  [
    /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT)/,
    "su certificado no es de una autoridad conocida: dila con sslrootcert=/ruta/ca.crt, o pon sslmode=no-verify si la red es de fiar",
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID/, "su certificado es de otra máquina"],
  [/^53100|^ENOSPC/, "está en un disco en el que no queda sitio"],
];

/** The sentence for a PostgreSQL that can't be used; with the server's own message if the code is not known. */
export function explainPostgres(error: unknown): unknown {
  const { code, message } = faultOf(error);
  if (/does not support SSL/i.test(message))
    return new ConfigError(
      "No se puede usar la base de datos de DATABASE_URL: no habla TLS, y «sslmode» lo pide. Quítalo o pon sslmode=disable.",
      { cause: error },
    );
  const known = code || (/timeout/i.test(message) ? "ETIMEDOUT" : "");
  if (known === "") return error;
  const why = byPostgres.find(([pattern]) => pattern.test(known))?.[1] ?? `dice «${message}»`;
  return new ConfigError(`No se puede usar la base de datos de DATABASE_URL: ${why}.`, { cause: error });
}

/**
 * The sentence for data that a newer version has migrated: `unknown` are the migrations that this version does not have. `dataDir`: of
 * an embedded database, which was copied before the migration.
 */
export function newerDatabase(unknown: string[], dataDir?: string): ConfigError {
  const [first] = unknown;
  const copy = dataDir && newestCopy(join(dataDir, "backups"), `antes-de-${first}-`);
  const back = copy
    ? `con el servidor parado, quita tertulia.db-wal y tertulia.db-shm y pon ${copy} como tertulia.db`
    : "pon la copia que hiciste antes de actualizar";
  return new ConfigError(
    `Los datos son de una Tertulia más nueva (${first}). Instala esa versión u otra posterior; o, para volver a esta, ${back}.`,
  );
}

function newestCopy(folder: string, beginning: string): string | undefined {
  try {
    const name = readdirSync(folder)
      .filter((one) => one.startsWith(beginning) && one.endsWith(".db"))
      .sort()
      .at(-1);
    return name && join(folder, name);
  } catch {
    return undefined;
  }
}
