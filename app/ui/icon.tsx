/** Symbols of the sprite in `public/icons.svg`. */
export type IconName =
  | "alert"
  | "assistant"
  | "bad"
  | "bell"
  | "book"
  | "chat"
  | "check"
  | "chevron"
  | "clock"
  | "close"
  | "copy"
  | "crown"
  | "dashboard"
  | "document"
  | "download"
  | "edit"
  | "globe"
  | "good"
  | "history"
  | "house"
  | "info"
  | "key"
  | "logout"
  | "mail"
  | "member"
  | "menu"
  | "message"
  | "more"
  | "next"
  | "panel"
  | "paperclip"
  | "person"
  | "pin"
  | "plus"
  | "previous"
  | "project"
  | "refresh"
  | "rocket"
  | "search"
  | "send"
  | "server"
  | "shield"
  | "stop"
  | "summary"
  | "trash"
  | "users"
  | "voice";

/** A symbol of the sprite; without a label it is decoration. */
export function Icon({ name, label }: { name: IconName; label?: string }) {
  return (
    <>
      <svg className="icon" aria-hidden="true">
        <use href={`/icons.svg#${name}`} />
      </svg>
      {label && <span className="sr-only">{label}</span>}
    </>
  );
}
