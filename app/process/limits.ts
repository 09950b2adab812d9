/**
 * Bounds on what a person may send, store and do at once: texts in characters, files and bodies in bytes. The rate limits
 * stand in `api/http/rate-limit.server.ts`.
 */
export const limits = {
  name: 80,
  email: 254,
  passwordMin: 8,
  passwordMax: 128,
  chatTitle: 120,
  message: 32_000,
  draft: 64_000,
  emailMessage: 4_000,
  search: 200,
  projectDescription: 500,
  projectInstructions: 8_000,
  modelName: 80,
  modelText: 8_000,
  assistantPurpose: 300,
  groupDescription: 500,
  notice: 2_000,
  holdReason: 1_000,
  /** Characters of the reason of an opinion, and of the question and the reply that the opinion is about. */
  opinionReason: 1_000,
  opinionText: 20_000,
  inspectionPurpose: 500,
  noticesShown: 3,
  assistantBeginnings: 4,
  assistantBeginning: 500,
  assistantFiles: 50,
  templateContent: 8_000,
  /** Skills of a person; characters of a name, a description and the instructions; files of a skill, bytes of one file and of all. */
  skills: 100,
  skillName: 64,
  skillDescription: 1_024,
  skillContent: 60_000,
  skillFiles: 100,
  skillFile: 256 * 1024,
  skillSize: 2 * 1024 * 1024,
  schedules: 20,
  trainingContent: 100_000,
  summary: 20_000,
  pageBody: 100_000,
  pageDescription: 300,
  slug: 80,
  houseName: 60,
  houseFoot: 300,
  mailFoot: 500,
  signupDomains: 2_000,
  /** Bytes of a logo or an icon that is sent. */
  brandImage: 2_000_000,
  listDefault: 30,
  listMax: 100,
  /** Lists count at most this far: counting a million rows would take longer than showing a page of them. */
  listCounted: 10_000,
  /** A search sorts only this many of the newest matches. */
  listSearched: 2_000,
  turnsOnPage: 50,
  /** Replies of one person that may run at the same time. The cost of a reply is known only when it ends. */
  repliesAtOnce: 16,
  /** Longest reply; a model that never stops is cut off here. */
  reply: 400_000,
  /** Longest thoughts of a reply; the rest is not kept. */
  reasoning: 400_000,
  /** How long a background job is kept once it has ended, with the results that it has prepared, in ms. */
  endedJob: 24 * 60 * 60_000,
  /** Longest time of a reply, in ms. */
  replyTime: 30 * 60_000,
  /** Bytes of a model server's response, including protocol and thoughts. */
  modelAnswer: 16 * 1024 * 1024,
  apiKeys: 20,
  /** Rooms of a person; people and messages of a room, and how long the room lasts, in ms. */
  rooms: 50,
  roomPeople: 500,
  roomMessages: 100_000,
  roomTime: 90 * 24 * 60 * 60_000,
  /** Characters of a sentence that is remembered. */
  memory: 300,
  /** Errands of a person; parts of a plan and searches of each part; steps and minutes of an errand. */
  errands: 100,
  errandParts: 8,
  errandSearches: 4,
  errandSteps: 300,
  errandMinutes: 600,
  /** Questions in series: how many series one person has, rows of a series, bytes of its table. */
  batches: 50,
  batchRows: 1_000,
  /** Rows of a series in which each is an errand. */
  batchErrands: 50,
  batchColumns: 100,
  batchFile: 2 * 1024 * 1024,
  /** Characters of an artifact: some 200 pages. How many one person has, and how many versions of each are kept. */
  artifact: 500_000,
  artifacts: 1_000,
  artifactVersions: 100,
  artifactReason: 300,
  /** Folders at servers of files that one person has connected. */
  folders: 50,
  folderPath: 1_000,
  filesPerMessage: 8,
  fileName: 200,
  /** Characters of the address of a page of the web. */
  address: 2_000,
  /** Bytes of a recording to be transcribed: the limit of OpenAI. */
  recording: 25 * 1024 * 1024,
  /** Bytes of one file. */
  image: 10 * 1024 * 1024,
  document: 20 * 1024 * 1024,
  /** A ZIP of documents. */
  archive: 100 * 1024 * 1024,
  /** Width × height in pixels: what phones take. AVIF is lower because it is decoded as a whole and needs far more memory. */
  imagePixels: 50_000_000,
  avifPixels: 16_000_000,
  /** Characters read from one file. */
  fileText: 2_000_000,
  jsonBody: 256 * 1024,
  /** Bytes of a chat completion request, including images. */
  completionBody: 32 * 1024 * 1024,
  /** Bytes of an imported export file. */
  importFile: 150 * 1024 * 1024,
  /** Bytes of an e-mail that is received, with its attachments. */
  incomingMail: 30 * 1024 * 1024,
  /** Bytes of a form with files. */
  uploadBody: 200 * 1024 * 1024,
  /** Bytes of a form's text: the longest artifact, at three bytes a letter, and the other fields. */
  formBody: 2 * 1024 * 1024,
} as const;
