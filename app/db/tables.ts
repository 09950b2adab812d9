import type { Generated } from "kysely";

/** Ids are lowercase UUIDv7 text, times epoch milliseconds, flags 0 or 1, lists and objects JSON text (architecture §4). */
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
  /** How often the refresh token was rotated; the tokens are derived from it. */
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
  /** 1 once the model or the person named it; until then it is made of the first words. */
  titled: Flag;
  pinned: Flag;
  archived: Flag;
  lastMessageAt: number;
  /** JSON of a Draft. */
  draft: string | null;
  /** The last message of the branch that is shown. */
  leafId: string | null;
  /** The session that a temporary chat ends with. */
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
  /** JSON of a list of Source. */
  sources: string | null;
  /** The idempotency key it was sent with. */
  key: string | null;
  /** When the process that writes this reply last said that it still does. */
  heartbeatAt: number | null;
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
  /** As its bytes say. */
  mediaType: string;
  size: number;
  sha256: string;
  width: number | null;
  height: number | null;
  pages: number | null;
  /** What was read from it, pages parted by form feeds; null for images. */
  text: string | null;
  /** Not sent with a message yet. */
  temporary: Flag;
  /** Sent in a temporary chat: the session that it ends with. */
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
  /** The person whose thing it was, where it was somebody's. */
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
  /** Hash of what was sent and with which key: sent twice, it is one. */
  key: string;
  /** When it went out as an e-mail; null: it is only here. */
  sentAt: number | null;
};

export type PasswordResetRow = Row & { userId: string; tokenHash: string; expiresAt: number };

/** A key by which a person's other programs use the API. */
export type ApiKeyRow = Row & {
  userId: string;
  name: string;
  scope: "read" | "write";
  /** Its first letters, by which its person knows it. */
  start: string;
  tokenHash: string;
  lastUsedAt: number | null;
};

/** What was made under an Idempotency-Key, to be answered again. */
export type IdempotencyRow = Row & {
  userId: string;
  key: string;
  /** Hash of method, path and body: the key holds for one request only. */
  request: string;
  /** null while it is being made. */
  status: number | null;
  body: string | null;
};

/** A person's authenticator app (TOTP, RFC 6238). */
export type AuthenticatorRow = Row & {
  userId: string;
  /** Base32, encrypted with the person's id. */
  secret: string;
  /** null until its first code was right. */
  confirmedAt: number | null;
  /** The time step of the last code used: none is taken twice. */
  lastStep: number;
  /** JSON list of the hashes of those not yet used. */
  recoveryCodes: string;
};

/** A link by which anyone may read a chat up to a message. */
export type ShareRow = Row & {
  chatId: string;
  leafId: string;
  /** How much of its last message is shared, in UTF-16 units; null: all, as it was still being written. */
  leafLength: number | null;
  token: string;
  /** 1: with its attachments. */
  files: Flag;
};

/** A stretch of text that full-text search finds. `words` is what the index sees: folded, stemmed, the owner first. */
export type PassageRow = {
  seq: Generated<number>;
  /** A person's id, or empty for everyone's. */
  ownerId: string;
  messageId: string | null;
  trainingId: string | null;
  chatId: string | null;
  fileId: string | null;
  /** Its number in the file, and the page it stands on. */
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
  audit: AuditRow;
  emails: EmailRow;
  passwordResets: PasswordResetRow;
  authenticators: AuthenticatorRow;
  apiKeys: ApiKeyRow;
  idempotency: IdempotencyRow;
  shares: ShareRow;
  passages: PassageRow;
};
