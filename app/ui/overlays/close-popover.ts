/** Closes the menu or sidebar in which something was chosen; without a script the next page closes it. */
export function closePopover({ target }: Event): void {
  const chosen = target instanceof Element ? target.closest('a, button[type="submit"]') : null;
  chosen?.closest<HTMLElement>("[popover]:popover-open")?.hidePopover();
}
