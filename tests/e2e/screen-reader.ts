import type { Page } from "@playwright/test";

// Roles that a screen reader names when it comes to them; without a name it says «button» and no more.
const named = new Set([
  ...["button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "menuitem", "slider"],
  ...["spinbutton", "switch", "tab", "DisclosureTriangle", "dialog", "alertdialog", "image", "progressbar", "meter"],
]);

/**
 * Faults in the tree that screen readers get of a page: the one that Chromium gives to them, which is made of what HTML, styles and scripts
 * have come to.
 */
export async function toldToScreenReaders(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const told = nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, properties = [], backendDOMNodeId }) => ({
      backendNodeId: backendDOMNodeId,
      role: String(role?.value),
      name: String(name?.value ?? "").trim(),
      value: (key: string) => properties.find((property) => property.name === key)?.value.value,
    }));
  const nameless = told.filter(({ role, name }) => named.has(role) && name === "");
  const roleless: string[] = [];
  for (const { role, value, backendNodeId } of told) {
    if (!value("focusable") || !["generic", "none"].includes(role)) continue;
    const { node } = await session.send("DOM.describeNode", { backendNodeId });
    // Code can be scrolled by keys; what it is is heard as it is read.
    if (node.nodeName !== "PRE") roleless.push(`${node.nodeName} ${node.attributes?.join(" ")}`);
  }
  await session.detach();
  const mains = told.filter(({ role }) => role === "main").length;
  // Without a script, too, what a dialog lies over can't be used, nor is it told.
  const isDialog = told.some(({ role }) => role === "dialog" || role === "alertdialog");
  const navigations = told.filter(({ role }) => role === "navigation").map(({ name }) => name);
  return [
    ...nameless.map(({ role }) => `a ${role} has no name`),
    ...roleless.map((element) => `${element} can be focused, and does not say what it is`),
    ...(mains === 1 || isDialog ? [] : [`it has ${mains} main parts`]),
    ...(new Set(navigations).size === navigations.length
      ? []
      : [`its navigations are called ${navigations.join(", ")}`]),
    ...(told[0]?.name ? [] : ["it has no title"]),
  ];
}
