import { createContext, useCallback, useState } from "react";

/** Whether the sidebar is folded, and a function that changes the state in the page; the server keeps the state (`/sidebar`). */
export const SidebarState = createContext({ folded: false, toggle() {} });

export function useSidebarState(folded: boolean) {
  const [value, setValue] = useState(folded);
  const toggle = useCallback(() => setValue((before) => !before), []);
  return { folded: value, toggle };
}
