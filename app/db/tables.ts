import type { Generated } from "kysely";

/** Ids are lowercase UUIDv7 text, times epoch milliseconds, flags 0 or 1, lists and objects JSON text. */
type Row = { id: string; createdAt: number; updatedAt: number };
type Flag = 0 | 1;

export type UserRow = Row & {
  name: string;
  /** As typed; `emailKey` is its lowercase form and unique. */
  email: string;
  emailKey: string;
  /** Empty: the person signs in by a provider and has no password. */
  passwordHash: string;
  role: "user" | "admin";
  status: "active" | "inactive";
  /** The unsent text of a new conversation: JSON of a Draft. */
  draft: string | null;
  lastSeenAt: number | null;
  /** Whether models are given what the person wants remembered. */
  remembers: Flag;
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
  /** The access that the session was opened by; null: a password. */
  accessId: string | null;
  /** The provider's name of the session behind this one (`sid`). */
  providerSession: string | null;
  /** The provider's ID token, encrypted with the session's id: signing out at the provider needs it. */
  idToken: string | null;
  /** End of the session, even if it is in use; null: no fixed end. */
  endsAt: number | null;
  /** Whether a passkey opened the session, which counts as a second step. */
  byPasskey: Flag;
  /** The room of a guest, who has no account. `userId` is then the person who opened the room and pays; no token opens the API. */
  roomId: string | null;
  guestHash: string | null;
  /** Name that a guest has given; empty: none. */
  guestName: string | null;
};

/** A room, in which people without an account talk with an assistant. Its limits are for all of them together. */
export type RoomRow = Row & {
  userId: string;
  /** null: the assistant is gone. */
  assistantId: string | null;
  /** Part of its address. */
  code: string;
  name: string;
  /** JSON list of the assistant's documents that are searched in the room; null: all. */
  fileIds: string | null;
  endsAt: number;
  people: number;
  messages: number;
  /** In the currency of the models' prices; null: as much as the plan of the room's opener allows. */
  budget: number | null;
  /** Whether the person who opened the room reads its messages. */
  showsTexts: Flag;
  isOpen: Flag;
  joined: number;
  asked: number;
  spent: number;
};

/** The installation as it presents itself, and its rules for new accounts: one row. */
export type HouseRow = Row & {
  name: string;
  /** Colour of the main action: #rrggbb; null: our own. */
  accent: string | null;
  /** Versions of the two pictures, each changed with its picture; null: no picture. */
  logo: string | null;
  icon: string | null;
  /** Line at the foot of public pages. */
  foot: string;
  /** Name of the sender of e-mails; null: the installation's name. */
  mailName: string | null;
  /** Text below e-mails. */
  mailFoot: string;
  /** Time zone for people whose own is not known; null: UTC. */
  timeZone: string | null;
  /** Domains of the addresses that may sign up, with commas; empty: all. */
  signupDomains: string;
  /** People who need a second step when they sign in by a password: nobody, administrators, or all. */
  secondStep: "optional" | "admins" | "all";
  /** How long a session lasts at most, in hours; null: as long as it is used. */
  sessionHours: number | null;
  /** How long a session lasts unused, in minutes; null: thirty days. */
  idleMinutes: number | null;
  /** Number of the last entry of the audit trail that was sent to EVENTS_URL; null: none yet. */
  eventsTold: number | null;
  /** JSON list of the groups that new accounts are members of; null: none. */
  groupIds: string | null;
  /** People who may open rooms for others without an account. */
  opensRooms: "nobody" | "admins" | "all";
};

/** A picture of the house: the logo, the icon, and the icon in the large for home screens. `content`: its bytes in base64. */
export type HouseImageRow = Row & { kind: "logo" | "icon" | "largeIcon"; mediaType: string; content: string };

/** A provider of identities by which people sign in: OpenID Connect, or a directory (LDAP). */
export type AccessRow = Row & {
  name: string;
  kind: "oidc" | "ldap";
  /** The issuer, or the directory's address. */
  address: string;
  /** The client's id, or the name of the account that searches the directory. */
  clientId: string;
  /** Encrypted; the row's id is authenticated with it. */
  secret: string | null;
  scopes: string;
  /** The claim with the names of a person's groups; dots lead into objects. Empty: the provider gives no groups. */
  groupsClaim: string;
  /** The provider's group whose members are administrators here; null: the provider does not name them. */
  adminGroup: string | null;
  /** Whether people without an account here get one. */
  makesAccounts: Flag;
  /** The domains of the addresses that may come in, with commas; empty: all. */
  domains: string;
  /** Whether addresses count as verified where the provider does not say. */
  trustsEmail: Flag;
  /** After how many hours its sessions end; null: as all do. */
  sessionHours: number | null;
  /** A directory's base of people, its filter that finds a person by what they type, and its base of groups. */
  searchBase: string | null;
  userFilter: string | null;
  groupBase: string | null;
  enabled: Flag;
  position: number;
};

/** A link by which somebody makes an account. */
export type InvitationRow = Row &
  ForGroups & {
    /** null: anybody who has the link. */
    email: string | null;
    /** The administrator who made it; null: their account is gone. */
    inviterId: string | null;
    role: UserRow["role"];
    expiresAt: number;
    usedAt: number | null;
    /** The account that was made with it. */
    userId: string | null;
  };

/** A notice of the house, on every page until it has been read. */
export type NoticeRow = Row &
  ForGroups & {
    text: string;
    /** null: until it is deleted. */
    endsAt: number | null;
    /** The one person that it is for; null: everybody, or the groups. */
    userId: string | null;
  };

export type NoticeReadRow = Row & { noticeId: string; userId: string };

/**
 * The provider's name of the person (`sub`). Of people whom an administrator has dropped, because the access leads to another provider now, it
 * begins with `droppedStart`.
 */
export type IdentityRow = Row & { userId: string; accessId: string; subject: string };

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
  /** JSON of a QueuedMessage, which is sent when the reply that is being written has ended. */
  queued: string | null;
  /** Models that are still to answer a question: JSON of `Compared`. */
  compared: string | null;
  /** The last message of the branch that is shown. */
  leafId: string | null;
  /** The session that a temporary chat is deleted with. */
  sessionId: string | null;
  /** JSON list of the ids of tools that are not offered here; null: all are. */
  toolsOff: string | null;
  /** Assistant of this chat; null for the plain model. */
  assistantId: string | null;
};

/** People with the same permissions and limits. Each limit is for each member; null: the group does not set it. */
export type GroupRow = Row & {
  name: string;
  description: string;
  /** The identity provider's name of the group; null: members are added by hand alone. */
  claim: string | null;
  messagesPerDay: number | null;
  tokensPerMonth: number | null;
  /** In the currency of the models' prices, like `budget`. */
  costPerMonth: number | null;
  /** Most that all its members may cost together in a month. */
  budget: number | null;
  /** Whether its members are minors: they get no web and no pictures, and are told who is responsible for them. */
  minors: Flag;
};

export type MemberRow = Row & {
  groupId: string;
  userId: string;
  /** The access whose provider named the member; null: added by hand. */
  accessId: string | null;
};

/** Cost of the members of a group since it has a budget, by UTC month (YYYY-MM). */
export type GroupCostRow = Row & { groupId: string; month: string; cost: number };

/** JSON list of the groups whose members alone may use the thing in this row; null: everybody may. */
type ForGroups = { groupIds: string | null };

/** A model prepared for a purpose. */
export type AssistantRow = Row &
  ForGroups & {
    userId: string;
    name: string;
    /** Purpose, in a sentence for people. */
    purpose: string;
    instructions: string;
    /** null: the default. */
    modelId: string | null;
    /** null: the model's own. */
    temperature: number | null;
    /** JSON list of the ids of tools that it may use; null: all. */
    toolIds: string | null;
    /** JSON list of the ids of the owner's documents that it looks into. */
    fileIds: string;
    /** JSON list of texts that a chat may begin with. */
    beginnings: string;
    /** 1: everybody may use it. */
    shared: Flag;
    /** Counts its changes, so that a reply says what it was made with. */
    version: number;
  };

/** A text to begin a message with, with blanks to be filled in, like {{ciudad}}. */
export type TemplateRow = Row & { userId: string; title: string; content: string; shared: Flag };

/** Instructions for a kind of work, which a model opens when it needs them (`SKILL.md`). `version` counts its changes. */
export type SkillRow = Row &
  ForGroups & {
    userId: string;
    /** As the open format has it: small letters, digits and hyphens. */
    name: string;
    /** The skill's purpose and when it is of use: all that a model knows before it opens the skill. */
    description: string;
    content: string;
    shared: Flag;
    version: number;
  };

/** A text beside the instructions of a skill. `size`: in bytes. */
export type SkillFileRow = Row & { userId: string; skillId: string; path: string; text: string; size: number };

/** `waiting`: the person has to decide about a call; nothing runs meanwhile. */
export type MessageStatus = "complete" | "streaming" | "waiting" | "stopped" | "failed" | "interrupted";

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
  /** Tokens of the prompt that the provider had cached from another prompt. */
  cachedTokens: number | null;
  /** 1: identifiers are hidden from any model that continues the reply, as they were from the model before. */
  pseudonyms: Flag | null;
  /** By the prices of its model, in their currency; null if the cost is not known. */
  cost: number | null;
  /** JSON of a list of Source. */
  sources: string | null;
  /** Whether the message came from another person's chat or another program, so that nobody wrote it here. */
  outside: Flag;
  /** Whether somebody has changed its text. */
  edited: Flag;
  /** The idempotency key it was sent with. */
  key: string | null;
  /** Last sign of life of the process that writes this reply, by the shared clock; 0 if that process has left the reply to another. */
  heartbeatAt: number | null;
  /** The process that writes the reply: text that another process still tries to store is not stored. */
  writer: string | null;
  /** How often another process, or a later start of the same one, has continued the reply by itself. */
  takeovers: number;
  /** Characters of the prompt of the run under way, whose tokens are not counted yet. */
  promptLength: number | null;
  finishedAt: number | null;
};

/** A diagnosis of the connection to a browser; `checks` is JSON. It is deleted after a day. */
export type DiagnosisRow = Row & { checks: string };
/** The moment (`createdAt`, by the shared clock) at which a line of a diagnosis was written or received, or the diagnosis ended. */
export type DiagnosisMarkRow = Row & { diagnosisId: string; kind: "written" | "received" | "ended"; line: number };

export type JobKind =
  | "email"
  | "file"
  | "picture"
  | "import"
  | "export"
  | "upkeep"
  | "words"
  | "meanings"
  | "reply-notice"
  | "reply-push"
  | "schedules"
  | "queued"
  | "backup"
  | "events"
  | "folder"
  | "webhook"
  | "models"
  | "batch"
  | "artifact"
  | "errand"
  | "mail"
  | "mail-answer";

/** Work that outlives the request that asked for it, and the process that began it. */
export type JobRow = Row & {
  kind: JobKind;
  state: "waiting" | "running" | "done" | "failed";
  /** Person that the work is for; null: the installation. */
  userId: string | null;
  /** Id of its subject: a file, a message from a form. */
  subjectId: string | null;
  /** Unique: the kind of work that repeats, or a webhook's id and event; null: none. */
  key: string | null;
  /** JSON: what its kind needs to know. */
  data: string;
  /** How often it was begun. */
  attempts: number;
  /** By the shared clock: the work does not begin before `dueAt`, and not after `goodUntil`. */
  dueAt: number;
  goodUntil: number | null;
  /** The process that runs it. */
  processId: string | null;
  /** Progress of the work, in steps of its kind; null: it reports none. */
  done: number | null;
  total: number | null;
  /** Why the work has failed, or is tried again: text that follows a colon. */
  problem: string | null;
  /** JSON: the outcome of the work. */
  result: string | null;
};

/** A completion for a program, while it lasts. */
export type CompletionRow = Row & { userId: string; processId: string };

/**
 * A response that is kept for a program, with the chat's reply that it stands for. `items`: JSON of the program's input and of the
 * answer, in the format of OpenAI's Responses; `size`: bytes of `items`; `previousId`: the response that this one continues.
 */
export type KeptResponseRow = Row & {
  userId: string;
  chatId: string;
  messageId: string;
  previousId: string | null;
  items: string;
  size: number;
};

/** A process that serves this database. `updatedAt` is its last sign of life, with PostgreSQL; `data` is JSON of a `Load`. */
export type ProcessRow = Row & { host: string; pid: number; version: string; data: string };

/**
 * A part of a reply beside its text. `n` is its place among all parts of the reply; the missing numbers belong to its
 * text, which is stored in the message alone. `at` is the offset in that text at which the part stands.
 */
export type PartRow = Row & {
  /** Origin of the words in a call's result (`replies/tools/provenance.server.ts`); null: the installation alone. */
  origin: string | null;
  messageId: string;
  n: number;
  kind: "reasoning" | "tool" | "image";
  at: number;
  /** A thought, the result of a call, or a description of an image. */
  text: string;
  /** Of a call. */
  status: CallStatus | null;
  /** JSON: a `Call`, a `MadeImage` for an image, or the data of a thought that its provider wants back. */
  data: string | null;
  /** null while it grows, and if the server was killed meanwhile; `createdAt` is when it began. */
  finishedAt: number | null;
};

/**
 * How far a call has come. `allowed`: the person has said yes, and it has not begun. A call that is `running` in a reply that no
 * process writes was cut off, and nobody knows how far it came.
 */
export type CallStatus = "running" | "waiting" | "allowed" | "done" | "failed" | "refused" | "interrupted";

/** A source of tools: another program (`mcp`), a search engine of the web, a maker of images, or Tertulia itself. */
export type ToolRow = Row &
  ForGroups & {
    name: string;
    kind:
      | "mcp"
      | "searxng"
      | "brave"
      | "tavily"
      | "image"
      | "page"
      | "documents"
      | "sums"
      | "time"
      | "artifacts"
      | "memory"
      | "program"
      | "skills";
    address: string | null;
    /** A key or token, encrypted with the row's id. */
    secret: string | null;
    /** JSON of `ToolSettings`. */
    settings: string;
    allowed: "everyone" | "admins";
    enabled: Flag;
    /** How long one call may take. */
    seconds: number;
    /** How much of an answer is used. */
    kilobytes: number;
    /** JSON list of `ListedTool`: what the server offered when it was asked last. */
    listed: string;
    listedAt: number | null;
    /** Why the server could not be asked, or which of its tools are left out. */
    problem: string | null;
    /** Outcome of signing in there: JSON of `ToolAccess`, encrypted with the row's id. */
    access: string | null;
    position: number;
  };

/** A person's own account at a server of tools that wants an account for each person. */
export type ToolAccountRow = Row & {
  userId: string;
  toolId: string;
  /** Outcome of signing in there: JSON of `ToolAccess`, encrypted with the row's id and the tool's address. */
  access: string | null;
  /** Moment of the person's consent; null while they have not given it yet. */
  connectedAt: number | null;
  /** As in `ToolRow`, by what the server offers this account. */
  listed: string;
  listedAt: number | null;
  problem: string | null;
};

/** Names that a provider of identities has for an account or a group that it manages here (SCIM); `id`: of that account or group. */
export type ProvisionedRow = Row & {
  userId: string | null;
  groupId: string | null;
  externalId: string | null;
  userName: string | null;
  /** Lowercase form, by which it is found. */
  userNameKey: string | null;
};

/** An address of another program that is told of some events. */
export type WebhookRow = Row & {
  name: string;
  address: string;
  /** Signs each message (Standard Webhooks), encrypted with the row's id. */
  secret: string | null;
  replyEnded: Flag;
  personMade: Flag;
  limitReached: Flag;
  enabled: Flag;
  /** Error of the last attempt; null: the message was taken. */
  problem: string | null;
  triedAt: number | null;
};

/** A server of files (WebDAV) at which people may connect their own account. */
export type DriveRow = Row & ForGroups & { name: string; address: string; enabled: Flag };

/** A person's own account at a server of files. */
export type DriveAccountRow = Row & {
  userId: string;
  driveId: string;
  username: string;
  /** A password for programs, encrypted with the row's id. */
  password: string;
};

/** A folder at a server of files: its files are documents of a project, as far as the folder's owner may read them there. */
export type FolderRow = Row & {
  userId: string;
  accountId: string;
  projectId: string;
  /** From the root of the account, without slashes at its ends; empty for all of it. */
  path: string;
  lookedAt: number | null;
  /** Problem of the last look; null: there was none. */
  problem: string | null;
  /** Since when the server has refused the folder at each look; null: it is not refused. */
  refusedAt: number | null;
  /** JSON list of `Skipped`. */
  skipped: string;
};

/** A tool that a person has allowed for a whole chat; `version`: the tool's, at that time. */
export type GrantRow = Row & { chatId: string; toolId: string; name: string; version: string };

/** A turn at a model that answers a limited number at once; a turn of a process that is gone does not count. */
export type TurnRow = Row & {
  modelId: string;
  userId: string;
  processId: string;
  /** Reply that waits or is written; null for a program. */
  messageId: string | null;
  /** Everybody's turns of one round go before those of the next; a person has one in each. */
  round: number;
  /** Place in the queue; 0: the model may be asked; -1: over, kept for its round while others wait. */
  place: number;
};

export type ModelRow = Row &
  ForGroups & {
    name: string;
    /** Its use, for people who choose among models. */
    purpose: string;
    provider: "openai" | "anthropic" | "google" | "openai-compatible" | "ollama" | "local";
    externalId: string;
    baseUrl: string | null;
    /** Encrypted; the row's id is authenticated with it. */
    apiKey: string | null;
    contextWindow: number;
    maxOutputTokens: number;
    temperature: number | null;
    /** How hard it is asked to think; null: it is not asked. */
    reasoning: "low" | "medium" | "high" | null;
    acceptsImages: Flag;
    /** Whether tools are offered to it. */
    usesTools: Flag;
    /** Names of the parameters that its server refuses, with blanks between them. */
    refused: string;
    /** Whether identifiers are hidden from it: marks go out in their place. */
    pseudonyms: Flag;
    /** Whether a reply that a restart has cut off goes on by itself. */
    resumes: Flag;
    /** Whether the model is asked for other words if the words of a question find little. */
    helpsSearch: Flag;
    /** Model that takes over if this one fails before it has written anything. */
    fallbackId: string | null;
    /** Most replies that the model writes at once; null: no limit. */
    atOnce: number | null;
    /** Price of a million prompt tokens that the provider had cached; null: the price of other prompt tokens. */
    cachedPrice: number | null;
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
  /** Whether people have to accept it before they go on. */
  mustAccept: Flag;
  /** Last change of the page's text: people who have accepted an older text are asked again. */
  textAt: number;
};

/** The newest `textAt` of the pages that a person has accepted last. */
export type AcceptanceRow = Row & { userId: string; textAt: number };

export type ProjectRow = Row & {
  userId: string;
  name: string;
  description: string;
  instructions: string;
  /** The unsent text of a new chat in it: JSON of a Draft. */
  draft: string | null;
};

/** Another person who sees a project; a member who `writes` begins chats in it and adds documents. Its owner is no member. */
export type ProjectMemberRow = Row & { projectId: string; userId: string; role: "reads" | "writes" };

/** A chat that the members of a group may read. */
export type ShownChatRow = Row & { chatId: string; groupId: string };

export type FileRow = Row & {
  userId: string;
  /** The project it is a document of. */
  projectId: string | null;
  name: string;
  /** Web address that it was taken from; null if somebody sent it. */
  address: string | null;
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
  /** The session that a file of a temporary chat is deleted with. */
  sessionId: string | null;
  /** 1 once it was read and all of its passages are stored. */
  ready: Flag;
  /** Why it could not be read: what follows «No se ha podido leer:». */
  problem: string | null;
  /** Folder that it is taken from, its path there and the version that was taken; null for a file that somebody sent. */
  folderId: string | null;
  remotePath: string | null;
  remoteTag: string | null;
};

/** A file as sent with a message; its name stays when the file is deleted. */
export type AttachmentRow = Row & {
  messageId: string;
  fileId: string | null;
  name: string;
  mediaType: string;
  position: number;
};

/** The prompt of a reply: JSON of a StoredPrompt. */
export type PromptRow = Row & { messageId: string; content: string };

export type SummaryRow = Row & {
  chatId: string;
  upToMessageId: string;
  content: string;
  modelId: string | null;
  tokens: number;
};

export type TrainingRow = Row &
  ForGroups & {
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
  /** Its number in the chain and its seal (`audit/seal.server.ts`); null for the seconds until it is sealed. */
  seq: number | null;
  hash: string | null;
  /** Hashes of `changes` and of `ip`. */
  details: string | null;
  sealKeyId: string | null;
};

/** How long things are kept. Deletion begins at `startsAt`, a day after the rule was saved. */
export type RetentionRow = Row & {
  kind: "chats" | "files" | "audit" | "usage";
  days: number;
  /** Only what belongs to members of this group; null: everybody's. */
  groupId: string | null;
  keepsPinned: Flag;
  startsAt: number;
};

/** A hold: while the row exists, nothing of this person is deleted. */
export type HoldRow = Row & { userId: string; reason: string };

/** Origin of a thing that was moved here from another program or another Tertulia: its id there, and the one here. */
export type MoveRow = Row & {
  source: "open-webui" | "librechat" | "tertulia";
  kind: "group" | "project" | "template" | "assistant" | "schedule" | "skill";
  externalId: string;
  ownId: string;
};

/** An encrypted key that seals the audit trail, and the data that it signs (`audit/keys.server.ts`). */
export type SealKeyRow = Row & { key: string; adopted: number | null; head: string | null; cut: string | null };

/** An account whose details are gone from the audit trail, and the mark that signs it. */
export type ErasureRow = Row & { personId: string; mark: string };

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

export type PasswordResetRow = Row & {
  userId: string;
  tokenHash: string;
  expiresAt: number;
  /** 1: it opens a session, instead of taking a new password. */
  opens: Flag;
};

/** A key with which a person's programs use the API. */
export type ApiKeyRow = Row & {
  userId: string;
  name: string;
  scope: "read" | "write";
  /** Its first characters, so that the person can tell keys apart. */
  start: string;
  tokenHash: string;
  lastUsedAt: number | null;
  /** Hash of the id of a program that has connected by OAuth, whose key is for /mcp alone; null for a key that its person has made. */
  client: string | null;
  codeHash: string | null;
  /** The program's PKCE challenge, for a connection whose code has not been used yet. */
  challenge: string | null;
  redirectUri: string | null;
  /** Hash of the token that gets the next key; `expiresAt` belongs to the current key. */
  refreshHash: string | null;
  expiresAt: number | null;
};

/** A model that hears or speaks, behind OpenAI's `/audio`. One of each kind is enabled at most. */
export type VoiceModelRow = Row & {
  name: string;
  kind: "transcription" | "speech";
  externalId: string;
  baseUrl: string;
  /** Encrypted; the row's id is authenticated with it. */
  apiKey: string | null;
  /** Name of the voice; empty: the usual one. */
  voice: string;
  enabled: Flag;
};

/** A reply as it was read aloud; its bytes are stored under its id. `version` is a hash of the text, model and voice. */
export type SpeechRow = Row & { messageId: string; userId: string; version: string; size: number };

/** The secret address of a person's newest replies. */
export type ReplyFeedRow = Row & { userId: string; token: string };

/** A device that is told of replies by Web Push: the browser of a session. */
export type DeviceRow = Row & {
  userId: string;
  sessionId: string;
  /** Address at its push service. Anybody who knows it and the keys can write to the device, so it is shown to nobody. */
  endpoint: string;
  /** The browser's public key and secret (RFC 8291), in Base64url. */
  p256dh: string;
  auth: string;
};

/** A question that is asked by itself, each time in a chat of its own. */
export type ScheduleRow = Row & {
  userId: string;
  content: string;
  /** null: the default, or the assistant's. */
  modelId: string | null;
  assistantId: string | null;
  /** JSON list of days of the week, Monday is 1; empty where it is asked on a day of the month. */
  days: string;
  /** 1 to 28, or 31 for the last; null: on days of the week. */
  monthDay: number | null;
  /** HH:MM in `zone`. */
  time: string;
  zone: string;
  /** Whether the person is told when the reply is there. */
  tells: Flag;
  enabled: Flag;
  nextAt: number;
  askedAt: number | null;
  /** JSON list of the places where an errand looks; null: the question is asked in a chat. */
  looksIn: string | null;
  /** The chat that it was asked in last, or the last errand. */
  chatId: string | null;
  errandId: string | null;
  /** Why the question could not be asked the last time. */
  problem: string | null;
};

/** A passkey, which opens a session on a device instead of a password (WebAuthn). */
export type PasskeyRow = Row & {
  userId: string;
  name: string;
  credentialId: string;
  /** COSE, as base64url. */
  publicKey: string;
  /** Number of signatures that its device reports; 0 if the device does not count them. */
  counter: number;
  /** JSON list of how its device is reached, for the browser. */
  transports: string;
  /** Creation time of the last challenge that the passkey has answered: an older challenge is refused. */
  challengedAt: number;
  lastUsedAt: number | null;
};

/** A text that models and people write beside a conversation. Its words are in its versions. */
export type ArtifactRow = Row & {
  userId: string;
  /** The chat that it is written in; null if that is gone. */
  chatId: string | null;
  /** The project whose members read it. */
  projectId: string | null;
  /** The file of its newest version, by which search finds the artifact; null until the file is made, and in a temporary chat. */
  fileId: string | null;
  /** In a temporary chat: the session that it is deleted with. */
  sessionId: string | null;
  /** Its number in its chat, by which models name it. */
  n: number;
  kind: ArtifactKind;
  title: string;
  /** Language, if it is code. */
  language: string | null;
  /** The newest version; 0 while the first one is being written. */
  version: number;
  /** 1: a model that had text of outsiders in its prompt has written in the artifact, which may repeat that text. */
  outside: number;
  /** The text so far of a version that a model is writing, and the question that its reply answers. */
  growing: string | null;
  growingFor: string | null;
  /** Token of the link by which anyone may read it, and the version that the link shows; null: not shared. */
  shareToken: string | null;
  sharedVersion: number | null;
};
export type ArtifactKind = "text" | "table" | "code";

/** A version of an artifact. Written by a person (`writerId`) or by a model; both are null where they are gone. */
export type ArtifactVersionRow = Row & {
  /** Owner of the artifact. */
  userId: string;
  artifactId: string;
  n: number;
  text: string;
  /** In bytes, for the plan. */
  size: number;
  writerId: string | null;
  modelId: string | null;
  reason: string;
};

/** A question that takes long: looked into by a plan, and answered as an artifact. */
export type ErrandRow = Row & {
  userId: string;
  /** null: the model is gone. */
  modelId: string | null;
  /** The report, once it is written. */
  artifactId: string | null;
  title: string;
  question: string;
  /** JSON list of its parts, each with a title and its searches. */
  plan: string;
  /** JSON list of where it looks: `web`, `documents`. */
  looksIn: string;
  /** `planned`: the plan waits for its person. */
  state: "planning" | "planned" | "running" | "paused" | "stopped" | "done";
  problem: string | null;
  /** Most that it may cost, in the currency of the models' prices; null: as much as the person's plan allows. */
  budget: number | null;
  stepsAtMost: number;
  minutesAtMost: number;
  /** Time worked for it in ms, steps taken and money spent; failed steps, and those no longer in its plan, count too. */
  workedMs: number;
  taken: number;
  spent: number;
  /** Whether its person is told by e-mail. */
  notifies: Flag;
  /** Whether it begins once its plan is there, without its person's yes. */
  startsItself: Flag;
  /** Key of an errand that begins by itself: the time of a schedule, or the row of a series. */
  key: string | null;
};

/** A step of an errand, in the order of part, stage and position. Its outcome is kept. */
export type ErrandStepRow = Row & {
  userId: string;
  errandId: string;
  /** Index of a part in the plan; one after the last part: the whole. */
  part: number;
  stage: number;
  position: number;
  kind: ErrandStepKind;
  /** The words of a search, or JSON of the source to read. */
  input: string;
  state: "waiting" | "done" | "failed" | "skipped";
  /** Its outcome: names of what was found, notes, a section. */
  text: string | null;
  problem: string | null;
  /** Number by which the source that was read is cited; null if it was of no use. */
  source: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cost: number | null;
};
export type ErrandStepKind = "search" | "read" | "more" | "write" | "join";

/** A sentence about a person that they want models to know. */
export type MemoryRow = Row & {
  userId: string;
  /** null: in all their chats. */
  projectId: string | null;
  /** The chat that the sentence comes from; null if the person has written it, or the chat is gone. */
  chatId: string | null;
  text: string;
};

/** Questions in series: a template over the rows of a table. */
export type BatchRow = Row & {
  userId: string;
  /** null: the model is gone, so that the default is used. */
  modelId: string | null;
  /** Copied from the template. */
  title: string;
  content: string;
  /** JSON list of the names of the table's columns. */
  columns: string;
  total: number;
  /** Most that it may cost, in the currency of the models' prices; null: as much as the plan allows. */
  budget: number | null;
  state: "running" | "paused" | "stopped" | "done";
  /** Why it is paused. */
  problem: string | null;
  /** JSON list of the places where the errands look, one errand a row; null: each row is one question. */
  looksIn: string | null;
};

export type BatchQuestionRow = Row & {
  userId: string;
  batchId: string;
  position: number;
  /** JSON list of its values, in the order of the columns. */
  cells: string;
  state: "waiting" | "done" | "failed";
  answer: string | null;
  problem: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cost: number | null;
  /** The errand that answers it. */
  errandId: string | null;
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

/** Whether a reply was of use to the person that it was written for, with what was asked and answered as it was then. */
export type OpinionRow = Row & {
  messageId: string;
  userId: string;
  modelId: string | null;
  assistantId: string | null;
  /** The assistant's name, as it was. */
  assistant: string;
  useful: Flag;
  reason: string;
  question: string;
  reply: string;
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

/** A word of some passage, as it is indexed, and the keys that it has in common with words that are written nearly alike. */
export type WordRow = { word: string };
export type WordKeyRow = { key: string; word: string };

/** Embedding model for the search by meaning. At most one is enabled. */
export type SearchModelRow = Row & {
  name: string;
  externalId: string;
  /** Base address; `/embeddings` is appended. */
  baseUrl: string;
  /** Encrypted; the row's id is authenticated with it. */
  apiKey: string | null;
  /** Some models want to be told whether a text is a question or a passage. */
  questionPrefix: string;
  passagePrefix: string;
  enabled: Flag;
  /** Why it could not be asked the last time, in a sentence; null: it could be asked. */
  problem: string | null;
};

/** Meaning of a passage; `bits` and `vector` as `search/quantise.server.ts` makes them. */
export type VectorRow = {
  seq: number;
  ownerId: string;
  fileId: string | null;
  ofMessage: Flag;
  /** Version of the model that made the numbers, and their count. */
  version: string;
  bits: Uint8Array;
  vector: Uint8Array;
};

export type Tables = {
  users: UserRow;
  sessions: SessionRow;
  rooms: RoomRow;
  chats: ChatRow;
  messages: MessageRow;
  processes: ProcessRow;
  jobs: JobRow;
  words: WordRow;
  wordKeys: WordKeyRow;
  searchModels: SearchModelRow;
  vectors: VectorRow;
  completions: CompletionRow;
  turns: TurnRow;
  responses: KeptResponseRow;
  diagnoses: DiagnosisRow;
  diagnosisMarks: DiagnosisMarkRow;
  parts: PartRow;
  models: ModelRow;
  tools: ToolRow;
  toolAccounts: ToolAccountRow;
  artifacts: ArtifactRow;
  artifactVersions: ArtifactVersionRow;
  batches: BatchRow;
  memories: MemoryRow;
  errands: ErrandRow;
  errandSteps: ErrandStepRow;
  batchQuestions: BatchQuestionRow;
  provisioned: ProvisionedRow;
  webhooks: WebhookRow;
  drives: DriveRow;
  driveAccounts: DriveAccountRow;
  folders: FolderRow;
  grants: GrantRow;
  accesses: AccessRow;
  identities: IdentityRow;
  invitations: InvitationRow;
  notices: NoticeRow;
  noticesRead: NoticeReadRow;
  groups: GroupRow;
  members: MemberRow;
  groupCosts: GroupCostRow;
  assistants: AssistantRow;
  templates: TemplateRow;
  skills: SkillRow;
  skillFiles: SkillFileRow;
  pages: PageRow;
  house: HouseRow;
  houseImages: HouseImageRow;
  projects: ProjectRow;
  projectMembers: ProjectMemberRow;
  shownChats: ShownChatRow;
  files: FileRow;
  attachments: AttachmentRow;
  prompts: PromptRow;
  summaries: SummaryRow;
  trainings: TrainingRow;
  subscriptions: SubscriptionRow;
  usage: UsageRow;
  textUse: TextUseRow;
  audit: AuditRow;
  acceptances: AcceptanceRow;
  sealKeys: SealKeyRow;
  erasures: ErasureRow;
  retentions: RetentionRow;
  holds: HoldRow;
  emails: EmailRow;
  passwordResets: PasswordResetRow;
  moves: MoveRow;
  authenticators: AuthenticatorRow;
  apiKeys: ApiKeyRow;
  replyFeeds: ReplyFeedRow;
  devices: DeviceRow;
  voiceModels: VoiceModelRow;
  speeches: SpeechRow;
  schedules: ScheduleRow;
  passkeys: PasskeyRow;
  idempotency: IdempotencyRow;
  shares: ShareRow;
  opinions: OpinionRow;
  passages: PassageRow;
};

/** Tables of items: their rows have an id and times. */
export type ItemTable = { [T in keyof Tables]: Tables[T] extends Row ? T : never }[keyof Tables];
