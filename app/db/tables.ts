import type { Generated } from "kysely";

/** Ids are lowercase UUIDv7 text, times epoch milliseconds, flags 0 or 1, lists and objects JSON text. */
type Row = { id: string; createdAt: number; updatedAt: number };
type Flag = 0 | 1;

export type UserRow = Row & {
  name: string;
  /** As typed; `emailKey` is its lowercase form and unique. */
  email: string;
  emailKey: string;
  passwordHash: string;
  role: "user" | "admin";
  status: "active" | "inactive";
  /** The unsent text of a new conversation: JSON of a Draft. */
  draft: string | null;
  lastSeenAt: number | null;
};

export type SessionRow = Row & {
  userId: string;
  /** Counts rotations of the refresh token; the tokens are derived from it. */
  generation: number;
  accessHash: string;
  refreshHash: string;
  rotatedAt: number;
  accessExpiresAt: number;
  refreshExpiresAt: number;
  userAgent: string;
  ip: string;
  lastSeenAt: number;
};

export type ChatRow = Row & {
  userId: string;
  projectId: string | null;
  modelId: string | null;
  title: string;
  /** 1 once the model or the person has set the title; until then it is made of the first words. */
  titled: Flag;
  pinned: Flag;
  archived: Flag;
  lastMessageAt: number;
  /** JSON of a Draft. */
  draft: string | null;
  /** The last message of the branch that is shown. */
  leafId: string | null;
  /** For a temporary chat: the session that it is deleted with. */
  sessionId: string | null;
};

export type MessageStatus = "complete" | "streaming" | "stopped" | "failed" | "interrupted";

export type MessageRow = Row & {
  chatId: string;
  userId: string;
  parentId: string | null;
  role: "user" | "assistant" | "system";
  content: string;
  status: MessageStatus;
  modelId: string | null;
  error: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** How many of the output tokens were thoughts, where the provider tells. */
  reasoningTokens: number | null;
  /** JSON of a list of Source. */
  sources: string | null;
  /** The idempotency key it was sent with. */
  key: string | null;
  /** Last sign of life of the process that writes this reply. */
  heartbeatAt: number | null;
  finishedAt: number | null;
};

/**
 * A part of a reply beside its text. `n` is its place among all parts of the reply; the numbers that are left out belong to its
 * text, which lies in the message alone. `at` is the offset in that text at which the part stands.
 */
export type PartRow = Row & {
  messageId: string;
  n: number;
  kind: "reasoning";
  at: number;
  text: string;
  /** null while it grows, and if the server was killed meanwhile; `createdAt` is when it began. */
  finishedAt: number | null;
};

export type ModelRow = Row & {
  name: string;
  provider: "openai" | "anthropic" | "google" | "openai-compatible" | "ollama" | "local";
  externalId: string;
  baseUrl: string | null;
  /** Encrypted with the row's id. */
  apiKey: string | null;
  contextWindow: number;
  maxOutputTokens: number;
  temperature: number | null;
  /** How hard it is asked to think; null: it is not asked. */
  reasoning: "low" | "medium" | "high" | null;
  acceptsImages: Flag;
  systemPrompt: string;
  inputPrice: number | null;
  outputPrice: number | null;
  enabled: Flag;
  isDefault: Flag;
  position: number;
};

export type PageRow = Row & {
  slug: string;
  title: string;
  description: string;
  body: string;
  published: Flag;
  position: number;
  inMenu: Flag;
};

export type ProjectRow = Row & {
  userId: string;
  name: string;
  description: string;
  instructions: string;
  /** The unsent text of a new chat in it: JSON of a Draft. */
  draft: string | null;
};

export type FileRow = Row & {
  userId: string;
  /** The project it is a document of. */
  projectId: string | null;
  name: string;
  /** Detected from the content, not from the name. */
  mediaType: string;
  size: number;
  sha256: string;
  width: number | null;
  height: number | null;
  pages: number | null;
  /** Extracted text, with form feeds between pages; null for images. */
  text: string | null;
  /** Not sent with a message yet. */
  temporary: Flag;
  /** For a file of a temporary chat: the session that it is deleted with. */
  sessionId: string | null;
  /** 1 once all of its passages are stored. */
  ready: Flag;
};

/** A file as sent with a message; its name stays when the file is deleted. */
export type AttachmentRow = Row & {
  messageId: string;
  fileId: string | null;
  name: string;
  mediaType: string;
  position: number;
};

/** What a model was given for a reply: JSON of a StoredPrompt. */
export type PromptRow = Row & { messageId: string; content: string };

export type SummaryRow = Row & {
  chatId: string;
  upToMessageId: string;
  content: string;
  modelId: string | null;
  tokens: number;
};

export type TrainingRow = Row & {
  title: string;
  kind: "instruction" | "knowledge" | "example";
  content: string;
  /** null: for everyone. */
  projectId: string | null;
  enabled: Flag;
  position: number;
};

export type SubscriptionRow = Row & {
  userId: string;
  plan: "gratis" | "pro" | "equipo";
  status: "active" | "past_due" | "canceled";
  startsAt: number;
  endsAt: number | null;
  messagesPerDay: number | null;
  tokensPerMonth: number | null;
  storageMb: number | null;
};

/** Bytes of a person's messages, maintained by triggers (migration 9). */
export type TextUseRow = Row & { userId: string; bytes: number };

export type UsageRow = Row & {
  userId: string;
  modelId: string;
  /** UTC day, YYYY-MM-DD. */
  day: string;
  messages: number;
  inputTokens: number;
  outputTokens: number;
  cost: number;
};

export type AuditRow = Row & {
  actorId: string | null;
  /** The owner of the thing that was changed, if it had one. */
  ownerId: string | null;
  action: string;
  resource: string;
  resourceId: string | null;
  changes: string;
  ip: string;
};

/** A message from the contact or support form. */
export type EmailRow = Row & {
  kind: "contact" | "support";
  name: string;
  email: string;
  message: string;
  userId: string | null;
  /** Hash of the message and its form's key: a message that is sent twice is stored once. */
  key: string;
  /** When it was sent as an e-mail; null if it was not. */
  sentAt: number | null;
};

export type PasswordResetRow = Row & { userId: string; tokenHash: string; expiresAt: number };

/** A key with which a person's programs use the API. */
export type ApiKeyRow = Row & {
  userId: string;
  name: string;
  scope: "read" | "write";
  /** Its first characters, so that the person can tell keys apart. */
  start: string;
  tokenHash: string;
  lastUsedAt: number | null;
};

/** The answer to a request with an Idempotency-Key, to be repeated. */
export type IdempotencyRow = Row & {
  userId: string;
  key: string;
  /** Keyed hash of path and body: the same key with another request is refused. */
  request: string;
  /** null while the first request is in progress. */
  status: number | null;
  body: string | null;
};

/** A person's authenticator app (TOTP, RFC 6238). */
export type AuthenticatorRow = Row & {
  userId: string;
  /** Base32, encrypted with the person's id. */
  secret: string;
  /** null until the first correct code. */
  confirmedAt: number | null;
  /** The time step of the last code that was accepted, so that no code works twice. */
  lastStep: number;
  /** JSON list of the hashes of unused recovery codes. */
  recoveryCodes: string;
};

/** A link by which anyone may read a chat up to a message. */
export type ShareRow = Row & {
  chatId: string;
  leafId: string;
  /** Length of the shared part of the last message in UTF-16 units; null: all of it, because it was still being written. */
  leafLength: number | null;
  token: string;
  /** 1: with its attachments. */
  files: Flag;
};

/** A passage for full-text search. `words` is what is indexed: the owner's id, then folded and stemmed words. */
export type PassageRow = {
  seq: Generated<number>;
  /** A person's id, or empty for everyone's. */
  ownerId: string;
  messageId: string | null;
  trainingId: string | null;
  chatId: string | null;
  fileId: string | null;
  /** Its number in the file, and its page. */
  position: number | null;
  page: number | null;
  text: string;
  words: string;
};

export type Tables = {
  users: UserRow;
  sessions: SessionRow;
  chats: ChatRow;
  messages: MessageRow;
  parts: PartRow;
  models: ModelRow;
  pages: PageRow;
  projects: ProjectRow;
  files: FileRow;
  attachments: AttachmentRow;
  prompts: PromptRow;
  summaries: SummaryRow;
  trainings: TrainingRow;
  subscriptions: SubscriptionRow;
  usage: UsageRow;
  textUse: TextUseRow;
  audit: AuditRow;
  emails: EmailRow;
  passwordResets: PasswordResetRow;
  authenticators: AuthenticatorRow;
  apiKeys: ApiKeyRow;
  idempotency: IdempotencyRow;
  shares: ShareRow;
  passages: PassageRow;
};
