import { sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE, Migrator } from "kysely/migration";
import type { Db, Engine } from "./engine.server.ts";
import * as first from "./migrations/0001_first.server.ts";
import * as search from "./migrations/0002_search.server.ts";
import * as frame from "./migrations/0003_frame.server.ts";
import * as shares from "./migrations/0004_shares.server.ts";
import * as conversations from "./migrations/0005_conversations.server.ts";
import * as lists from "./migrations/0006_lists.server.ts";
import * as apiKeys from "./migrations/0007_api_keys.server.ts";
import * as shareLength from "./migrations/0008_share_length.server.ts";
import * as texts from "./migrations/0009_texts.server.ts";
import * as parts from "./migrations/0010_parts.server.ts";
import * as tools from "./migrations/0011_tools.server.ts";
import * as assistants from "./migrations/0012_assistants.server.ts";
import * as access from "./migrations/0013_access.server.ts";
import * as groups from "./migrations/0014_groups.server.ts";
import * as invitations from "./migrations/0015_invitations.server.ts";
import * as notices from "./migrations/0016_notices.server.ts";
import * as opinions from "./migrations/0017_opinions.server.ts";
import * as auditChain from "./migrations/0018_audit_chain.server.ts";
import * as retention from "./migrations/0019_retention.server.ts";
import * as pseudonyms from "./migrations/0020_pseudonyms.server.ts";
import * as terms from "./migrations/0021_terms.server.ts";
import * as sharedWork from "./migrations/0022_shared_work.server.ts";
import * as passkeys from "./migrations/0023_passkeys.server.ts";
import * as handOver from "./migrations/0024_hand_over.server.ts";
import * as diagnoses from "./migrations/0025_diagnoses.server.ts";
import * as jobs from "./migrations/0026_jobs.server.ts";
import * as words from "./migrations/0027_words.server.ts";
import * as meaning from "./migrations/0028_meaning.server.ts";
import * as fileAddress from "./migrations/0029_file_address.server.ts";
import * as nearest from "./migrations/0030_nearest.server.ts";
import * as replyFeeds from "./migrations/0031_reply_feeds.server.ts";
import * as schedules from "./migrations/0032_schedules.server.ts";
import * as voice from "./migrations/0033_voice.server.ts";
import * as devices from "./migrations/0034_devices.server.ts";
import * as refused from "./migrations/0035_refused.server.ts";
import * as outside from "./migrations/0036_outside.server.ts";
import * as grantVersions from "./migrations/0037_grant_versions.server.ts";
import * as inviters from "./migrations/0038_inviters.server.ts";
import * as personNotices from "./migrations/0039_person_notices.server.ts";
import * as auditMarks from "./migrations/0040_audit_marks.server.ts";
import * as moves from "./migrations/0041_moves.server.ts";
import * as searchHelp from "./migrations/0042_search_help.server.ts";
import * as modelPurpose from "./migrations/0043_model_purpose.server.ts";
import * as queuedMessages from "./migrations/0044_queued_messages.server.ts";
import * as house from "./migrations/0045_house.server.ts";
import * as sessionRules from "./migrations/0046_session_rules.server.ts";
import * as minors from "./migrations/0047_minors.server.ts";
import * as eventsTold from "./migrations/0048_events_told.server.ts";
import * as keptResponses from "./migrations/0049_kept_responses.server.ts";
import * as connections from "./migrations/0050_connections.server.ts";
import * as toolAccounts from "./migrations/0051_tool_accounts.server.ts";
import * as fallbacks from "./migrations/0052_fallbacks.server.ts";
import * as turns from "./migrations/0053_turns.server.ts";
import * as costs from "./migrations/0054_costs.server.ts";
import * as compared from "./migrations/0055_compared.server.ts";
import * as hiddenReplies from "./migrations/0056_hidden_replies.server.ts";
import * as drives from "./migrations/0057_drives.server.ts";
import * as webhooks from "./migrations/0058_webhooks.server.ts";
import * as provisioned from "./migrations/0059_provisioned.server.ts";
import * as batches from "./migrations/0060_batches.server.ts";
import * as artifacts from "./migrations/0061_artifacts.server.ts";
import * as errands from "./migrations/0062_errands.server.ts";
import * as memories from "./migrations/0063_memories.server.ts";
import * as programs from "./migrations/0064_programs.server.ts";
import * as editedMessages from "./migrations/0065_edited_messages.server.ts";
import * as rooms from "./migrations/0066_rooms.server.ts";
import * as skills from "./migrations/0067_skills.server.ts";
import * as errandsOfOthers from "./migrations/0068_errands_of_others.server.ts";
import * as sharedArtifacts from "./migrations/0069_shared_artifacts.server.ts";
import * as plainTexts from "./migrations/0070_plain_texts.server.ts";

const migrations = {
  "0001_first": first,
  "0002_search": search,
  "0003_frame": frame,
  "0004_shares": shares,
  "0005_conversations": conversations,
  "0006_lists": lists,
  "0007_api_keys": apiKeys,
  "0008_share_length": shareLength,
  "0009_texts": texts,
  "0010_parts": parts,
  "0011_tools": tools,
  "0012_assistants": assistants,
  "0013_access": access,
  "0014_groups": groups,
  "0015_invitations": invitations,
  "0016_notices": notices,
  "0017_opinions": opinions,
  "0018_audit_chain": auditChain,
  "0019_retention": retention,
  "0020_pseudonyms": pseudonyms,
  "0021_terms": terms,
  "0022_shared_work": sharedWork,
  "0023_passkeys": passkeys,
  "0024_hand_over": handOver,
  "0025_diagnoses": diagnoses,
  "0026_jobs": jobs,
  "0027_words": words,
  "0028_meaning": meaning,
  "0029_file_address": fileAddress,
  "0030_nearest": nearest,
  "0031_reply_feeds": replyFeeds,
  "0032_schedules": schedules,
  "0033_voice": voice,
  "0034_devices": devices,
  "0035_refused": refused,
  "0036_outside": outside,
  "0037_grant_versions": grantVersions,
  "0038_inviters": inviters,
  "0039_person_notices": personNotices,
  "0040_audit_marks": auditMarks,
  "0041_moves": moves,
  "0042_search_help": searchHelp,
  "0043_model_purpose": modelPurpose,
  "0044_queued_messages": queuedMessages,
  "0045_house": house,
  "0046_session_rules": sessionRules,
  "0047_minors": minors,
  "0048_events_told": eventsTold,
  "0049_kept_responses": keptResponses,
  "0050_connections": connections,
  "0051_tool_accounts": toolAccounts,
  "0052_fallbacks": fallbacks,
  "0053_turns": turns,
  "0054_costs": costs,
  "0055_compared": compared,
  "0056_hidden_replies": hiddenReplies,
  "0057_drives": drives,
  "0058_webhooks": webhooks,
  "0059_provisioned": provisioned,
  "0060_batches": batches,
  "0061_artifacts": artifacts,
  "0062_errands": errands,
  "0063_memories": memories,
  "0064_programs": programs,
  "0065_edited_messages": editedMessages,
  "0066_rooms": rooms,
  "0067_skills": skills,
  "0068_errands_of_others": errandsOfOthers,
  "0069_shared_artifacts": sharedArtifacts,
  "0070_plain_texts": plainTexts,
};

/** Kysely's migrator over our migrations, which know the engine. `schema`: of PostgreSQL, where other programs may have schemas too. */
export function createMigrator(db: Db, engine: Engine, schema?: string): Migrator {
  return new Migrator({
    db,
    ...(schema !== undefined && { migrationTableSchema: schema }),
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(migrations).map(([name, { up }]) => [name, { up: (handle) => up(handle, engine) }]),
        ),
    },
  });
}

/** Brings the database to the newest migration. Throws what the migration threw. */
export async function migrate(db: Db, engine: Engine): Promise<void> {
  const { error } = await createMigrator(db, engine, await schemaOf(db, engine)).migrateToLatest();
  if (error) throw error;
}

/** The schema in which PostgreSQL makes our tables; undefined in SQLite. */
async function schemaOf(db: Db, engine: Engine): Promise<string | undefined> {
  if (engine === "sqlite") return undefined;
  const { rows } = await sql<{ schema: string | null }>`select current_schema() as schema`.execute(db);
  return rows[0]?.schema ?? undefined;
}

/** Whether this version has a migration of this name; of data of a newer version it has not. */
export const hasMigration = (name: string): boolean => name in migrations;

/** Migrations that were carried out by a newer version of the program, in their order. */
export async function unknownMigrations(db: Db, engine: Engine): Promise<string[]> {
  // In PostgreSQL, other programs may have a table of that name in schemas of their own.
  const schema = await schemaOf(db, engine);
  const asked =
    engine === "sqlite"
      ? sql<{ found: string }>`select name as found from sqlite_master where name = ${DEFAULT_MIGRATION_TABLE}`
      : sql<{
          found: string;
        }>`select to_regclass(format('%I.%I', ${schema}::text, ${DEFAULT_MIGRATION_TABLE}::text)) as found`;
  if (!(await asked.execute(db)).rows[0]?.found) return [];
  const table = sql.id(...(schema === undefined ? [] : [schema]), DEFAULT_MIGRATION_TABLE);
  const { rows } = await sql<{ name: string }>`select name from ${table}`.execute(db);
  return rows
    .map(({ name }) => name)
    .filter((name) => !hasMigration(name))
    .sort();
}

/** The migrations in their order, and when each was carried out. */
export async function carriedOut(db: Db, engine: Engine): Promise<{ name: string; at: Date | undefined }[]> {
  const all = await createMigrator(db, engine, await schemaOf(db, engine)).getMigrations();
  return all.map(({ name, executedAt }) => ({ name, at: executedAt }));
}

/** How many migrations were carried out, and the names of those still to come. */
export async function pendingMigrations(db: Db, engine: Engine): Promise<{ done: number; names: string[] }> {
  const all = await carriedOut(db, engine);
  const names = all.filter(({ at }) => !at).map(({ name }) => name);
  return { done: all.length - names.length, names };
}
