import { answerJob } from "../../process/child-process-entry.ts";
import { docxOf } from "./docx.server.ts";
import { odtOf } from "./odt.server.ts";
import type { OfficeDocument } from "./office-document.server.ts";

answerJob((job: OfficeDocument) => (job.format === "docx" ? docxOf(job) : odtOf(job)));
