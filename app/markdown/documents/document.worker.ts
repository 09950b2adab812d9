import { answerJob } from "../../process/child-process-entry.ts";
import { docxOf } from "./docx.server.ts";
import { odtOf } from "./odt.server.ts";
import type { OfficeDocument, OfficeSheet } from "./office-document.server.ts";
import { xlsxOf } from "./xlsx.server.ts";

answerJob((job: OfficeDocument | OfficeSheet) => {
  if (job.format === "xlsx") return xlsxOf(job);
  return job.format === "docx" ? docxOf(job) : odtOf(job);
});
