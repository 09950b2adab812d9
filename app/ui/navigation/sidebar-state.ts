import { createContext, useCallback, useState } from "react";

/** Whether the sidebar is folded, and what changes it in the page; the server keeps it (`/sidebar`). */
export const SidebarState = createContext({ folded: false, toggle() {} });

export function useSidebarState(folded: boolean) {
  const [value, setValue] = useState(folded);
  const toggle = useCallback(() => setValue((before) => !before), []);
  return { folded: value, toggle };
}
