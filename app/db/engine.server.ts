import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./tables.ts";

export type Engine = "sqlite" | "postgres";
export type Db = Kysely<Tables>;
/** A transaction: what is written in it stays all together, or not at all. */
export type Trx = Transaction<Tables>;
