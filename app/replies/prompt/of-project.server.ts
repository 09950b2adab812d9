import { expressionBuilder } from "kysely";
import type { Tables } from "../../db/tables.ts";

const e = expressionBuilder<Tables, "trainings">();

/** The trainings for all chats, and those of the project if there is one: in SQL, nothing equals null. */
export const ofProject = (projectId: string | null) =>
  e.or([e("trainings.projectId", "is", null), e("trainings.projectId", "=", projectId)]);
