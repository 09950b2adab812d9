/** Every bound on what a person may send or store, in one place (product.md §5). Lengths in characters. */
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
  trainingContent: 100_000,
  summary: 20_000,
  pageBody: 100_000,
  pageDescription: 300,
  slug: 80,
  listDefault: 30,
  listMax: 100,
  /** A list says up to here how many there are; counting a million would take longer than showing them. */
  listCounted: 10_000,
  /** Of all that a word is in, a list shows the newest: as many as can be put in order at once. */
  listSearched: 2_000,
  turnsOnPage: 50,
  /** Replies of one person that are written at the same time; what they will use is known at their end only. */
  repliesAtOnce: 16,
  /** A model that never ends is cut here. */
  reply: 400_000,
  /** ms that a reply may take. */
  replyTime: 30 * 60_000,
  /** Bytes of a model server's answer, protocol and thoughts included. */
  modelAnswer: 16 * 1024 * 1024,
  apiKeys: 20,
  filesPerMessage: 8,
  fileName: 200,
  /** Bytes of one file. */
  image: 10 * 1024 * 1024,
  document: 20 * 1024 * 1024,
  /** Width × height: what telephones take; an AVIF is decoded whole and takes far more memory. */
  imagePixels: 50_000_000,
  avifPixels: 16_000_000,
  /** Characters read from one file. */
  fileText: 2_000_000,
  jsonBody: 256 * 1024,
  /** Bytes of what another program asks a model, images included. */
  completionBody: 16 * 1024 * 1024,
  /** Bytes of another program's export. */
  importFile: 150 * 1024 * 1024,
  /** Bytes of a form with files. */
  uploadBody: 200 * 1024 * 1024,
  formBody: 1024 * 1024,
} as const;
