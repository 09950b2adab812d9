import { answerJob } from "../process/child-process-entry.ts";
import { lookIntoFile } from "./contents.server.ts";

/** Opens a copy of the embedded database and checks it whole, in a process of its own: the check reads the whole copy. */
answerJob(({ path }: { path: string }) => lookIntoFile(path));
