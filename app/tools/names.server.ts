const longest = 64;

/**
 * A name for a model, of the characters that every provider takes: letters, digits, `_` and `-`, up to 64 of them. `taken`: the names that
 * are in use; a name among them gets a number.
 */
export function nameFor(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = (text: string) =>
    text
      .slice(0, 4 * longest)
      .normalize("NFD")
      .replace(/\p{M}/gu, "")
      .replace(/[^a-zA-Z0-9_-]+/g, "_")
      .replace(/^_+|_+$/g, "");
  const whole =
    [plain(server).slice(0, 24).toLowerCase(), plain(tool)].filter(Boolean).join("_").slice(0, longest) ||
    "herramienta";
  for (let n = 1; ; n++) {
    const name = n === 1 ? whole : `${whole.slice(0, longest - 4)}_${n}`;
    if (!taken.has(name)) return name;
  }
}
