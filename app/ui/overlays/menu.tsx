import type { ComponentProps, ReactNode } from "react";
import { Icon, type IconName } from "../icon.tsx";
import { ListLink } from "../navigation/list-links.tsx";

type MenuProps = { id: string; label: string; look?: string; children: ReactNode };

/** A menu of things that can be done, behind a button with three dots; it opens without a script. */
export function Menu({ id, label, look = "button quiet small only", children }: MenuProps) {
  return (
    <>
      <button className={look} type="button" popoverTarget={id}>
        <Icon name="more" label={label} />
      </button>
      <div className="menu" id={id} popover="auto">
        <ul>{children}</ul>
      </div>
    </>
  );
}

export function MenuLink({ icon, children, ...link }: ComponentProps<typeof ListLink> & { icon: IconName }) {
  return (
    <li>
      <ListLink {...link}>
        <Icon name={icon} />
        {children}
      </ListLink>
    </li>
  );
}
