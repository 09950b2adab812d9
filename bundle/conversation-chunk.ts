import type { Plugin } from "vite";

/** The route modules of a conversation page, whose chunk is what most visits load, and what starts them. */
const routes = /app\/(root|routes\/(shell|conversation)\/layout|routes\/conversation\/chat\/chat)\.tsx$/;
const entry = /app\/entry\.client\.tsx$/;

/**
 * Modules that a conversation page needs from the start, as one chunk: as nine they weighed an eighth more, compressed. They are all that
 * its route modules import, but for those that `import()` asks for later. The entry itself stays outside: it hydrates as soon as it is
 * loaded, and other chunks come before it.
 */
export function conversationChunk(): { plugin: Plugin; has: (id: string) => boolean } {
  const modules = new Set<string>();
  const plugin: Plugin = {
    name: "conversation-chunk",
    applyToEnvironment: ({ name }) => name === "client",
    buildEnd() {
      const add = (id: string) => {
        if (modules.has(id)) return;
        modules.add(id);
        for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported);
      };
      for (const id of this.getModuleIds()) {
        if (routes.test(id)) add(id);
        if (entry.test(id)) for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported);
      }
    },
  };
  return { plugin, has: (id) => modules.has(id) };
}

/**
 * `import()` as it is, instead of through Vite's preloading of what the module imports in turn: nearly all of that is
 * there already, and the code that looks for it weighs 0.9 kB.
 */
export const plainImports: Plugin = {
  name: "plain-imports",
  enforce: "pre",
  apply: "build",
  load: (id) => (id === "\0vite/preload-helper.js" ? "export const __vitePreload = (load) => load();" : null),
};
