import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

export const looks = {
  info: { className: "", icon: "info" },
  success: { className: "good", icon: "check" },
  error: { className: "bad", icon: "alert" },
  warning: { className: "warn", icon: "alert" },
} as const;

/** A message about an event or a state, at the top of a page or where it belongs. */
export function Callout({ type, children }: { type: keyof typeof looks; children: ReactNode }) {
  const { className, icon } = looks[type];
  return (
    <div className={`callout ${className}`} role={type === "error" ? "alert" : "status"}>
      <Icon name={icon} />
      {children}
    </div>
  );
}
