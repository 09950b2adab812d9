const openXml = "application/vnd.openxmlformats-officedocument";
const openDocument = "application/vnd.oasis.opendocument";

/** The types of documents that have a reader of their own, and what pages call them. All others are read as plain text. */
export const documentTypes = {
  pdf: "application/pdf",
  docx: `${openXml}.wordprocessingml.document`,
  xlsx: `${openXml}.spreadsheetml.sheet`,
  pptx: `${openXml}.presentationml.presentation`,
  odt: `${openDocument}.text`,
  ods: `${openDocument}.spreadsheet`,
  odp: `${openDocument}.presentation`,
  xls: "application/vnd.ms-excel",
  doc: "application/msword",
  ppt: "application/vnd.ms-powerpoint",
  epub: "application/epub+zip",
  rtf: "application/rtf",
  html: "text/html",
  eml: "message/rfc822",
  msg: "application/vnd.ms-outlook",
  ics: "text/calendar",
  vcf: "text/vcard",
} as const;
export type DocumentType = (typeof documentTypes)[keyof typeof documentTypes];

const all: ReadonlySet<string> = new Set(Object.values(documentTypes));
export const isDocumentType = (type: string): type is DocumentType => all.has(type);

// Templates, shows and documents with macros, which are read like others; their macros are never run.
const sameAs: Record<string, DocumentType> = {
  "application/vnd.ms-word.document": documentTypes.docx,
  "application/vnd.ms-word.template": documentTypes.docx,
  "application/vnd.ms-excel.sheet": documentTypes.xlsx,
  "application/vnd.ms-excel.template": documentTypes.xlsx,
  "application/vnd.ms-powerpoint.presentation": documentTypes.pptx,
  "application/vnd.ms-powerpoint.slideshow": documentTypes.pptx,
  [`${openXml}.wordprocessingml.template`]: documentTypes.docx,
  [`${openXml}.spreadsheetml.template`]: documentTypes.xlsx,
  [`${openXml}.presentationml.template`]: documentTypes.pptx,
  [`${openXml}.presentationml.slideshow`]: documentTypes.pptx,
  [`${openDocument}.text-template`]: documentTypes.odt,
  [`${openDocument}.spreadsheet-template`]: documentTypes.ods,
  [`${openDocument}.presentation-template`]: documentTypes.odp,
};

/** Types of texts by the endings of their names, because their bytes don't tell the type. */
export const textTypes = new Map<string, string>([
  ["html", documentTypes.html],
  ["htm", documentTypes.html],
  ["xhtml", documentTypes.html],
  ["eml", documentTypes.eml],
  // A page that a browser has saved whole is an e-mail without people.
  ["mht", documentTypes.eml],
  ["mhtml", documentTypes.eml],
  ["ics", documentTypes.ics],
  ["vcf", documentTypes.vcf],
  ["vcard", documentTypes.vcf],
  ["md", "text/markdown"],
  ["markdown", "text/markdown"],
  ["csv", "text/csv"],
  ["tsv", "text/csv"],
  ["txt", "text/plain"],
  ["json", "application/json"],
]);

/** The type whose reader reads documents of this type. */
export const readAs = (type: string): string => sameAs[type.replace(/\.macroenabled(\.12)?$/i, "")] ?? type;
