import { unescaped } from "../../../process/text/unescaped.ts";
import { parsed } from "./imported-chat.server.ts";

// ChatGPT encloses what its pages draw in private-use characters: a kind, then its arguments, each after a separator.
const group = /((?<![ \t])[ \t]*)\uE200([^\uE200\uE201]*)\uE201(?=([\p{L}\p{N}])?)/gu;
const separator = "\uE202";
const link = /^https?:\/\//;

/**
 * Marks of several years: those that are removed whole, and those that leave a part of themselves. Blanks before a mark are matched once,
 * and the text within a mark has a limit, because imported texts may be long.
 */
const rules: [mark: RegExp, shown: string | ((...found: string[]) => string)][] = [
  // A group that is never closed: the answer was cut off.
  [/(?<![ \t])[ \t]*\uE200[^\uE201\n]*/g, ""],
  // LibreChat keeps the private-use characters written out.
  [/\\ue20[01346]/gi, ""],
  [/(?<![ \t])[ \t]*(?:(?:\\ue202|\uE202)turn\d+[a-z]+\d+)+/gi, ""],
  [/[\uE000-\uF8FF]/g, ""],
  // Marks copied without their private-use characters.
  [/(?<![ \t])[ \t]*\[?(?:file)?cite(?:turn\d+[a-z]+\d+)+(?:L\d+-L\d+)*\]?/gi, ""],
  [/\bentity(\["[^\]\n]{0,300}\])/g, (whole = "", list = "") => nameIn(list) ?? whole],
  // Since 2023: 【12†source】, 【oaicite:0】, :contentReference[oaicite:0]{index=0}.
  [/(?<![ \t])[ \t]*(?:&#8203;)?`{0,2}【(?:oaicite:\d+|[^【】\n]{0,200}†[^【】\n]{0,200})】`{0,2}(?:&#8203;)?/g, ""],
  [/(?<![ \t])[ \t]*:{0,2}(?:contentReference)?\[oaicite:\d+\](?:\{index=\d+\})?/g, ""],
  [/(?<![ \t])[ \t]*:chatgpt-content-reference\{[^}\n]{0,60}\}/g, ""],
  [/\[oai_citation(?:_attribution)?:\d+‡/g, "["],
  // Files that only ChatGPT's own pages had.
  [/!\[([^\]\n]{0,500})\]\((?:sandbox|sediment|file-service|attachment):[^)\s]{0,500}\)/gi, (_, alt = "") => alt],
  [
    /\[([^\]\n]{0,500})\]\(((?:sandbox|sediment|file-service|attachment):[^)\n]{0,500})\)/gi,
    (_, label = "", to = "") => named(label, to),
  ],
  [/sandbox:\/mnt\/data\/(?:[^\s)/]+\/)*([^\s)/]+)/gi, (_, name = "") => name],
  [/([?&])utm_source=(?:chatgpt\.com|openai)(&?)/g, (_, before = "", after = "") => (after ? before : "")],
];

/** A text of ChatGPT without the marks that its own pages draw; names and links in them stay. */
export function withoutMarks(said: string): string {
  const parts: { isCode: boolean; lines: string[] }[] = [];
  for (const { line, isCode } of withoutWritingBlocks(linesOf(said))) {
    const last = parts.at(-1);
    if (last?.isCode === isCode) last.lines.push(line);
    else parts.push({ isCode, lines: [line] });
  }
  return parts
    .map(({ isCode, lines }) =>
      isCode ? lines.join("\n").replace(/[\uE200-\uE206]/g, "") : unmarked(lines.join("\n")),
    )
    .join("\n")
    .trimEnd();
}

type Line = { line: string; isCode: boolean };

/** Lines of Markdown; marks in a fenced block of code are text. */
function linesOf(said: string): Line[] {
  let fence = "";
  return said.split("\n").map((line) => {
    const wasCode = fence !== "";
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && !fence) fence = mark;
    else if (mark && line.trim().startsWith(fence)) fence = "";
    return { line, isCode: wasCode || fence !== "" };
  });
}

function unmarked(text: string): string {
  const withNames = text.replace(group, (_, blank: string, inside: string, next?: string) => {
    const shown = shownOf(inside);
    if (shown) return blank + shown;
    return next && blank ? " " : "";
  });
  return rules.reduce(
    (left, [mark, shown]) => (typeof shown === "string" ? left.replace(mark, shown) : left.replace(mark, shown)),
    withNames,
  );
}

/** Text that a group leaves: a name, a link, a formula; nothing of citations, pictures and maps. */
function shownOf(inside: string): string {
  const [kind = "", ...rest] = inside.split(separator);
  const [first = "", second = ""] = rest;
  if (kind === "url" || kind === "video") return link.test(second) ? `[${first}](${second})` : first;
  if (kind === "entity" || kind === "product_entity") {
    return nameIn(rest.join(separator)) ?? (/^[[{]/.test(first) ? "" : first);
  }
  if (kind === "genui") {
    const [block] = Object.values(Object(parsed(rest.join(separator))));
    const content: unknown = Object(block).content;
    return typeof content === "string" ? `$$${content}$$` : "";
  }
  return "";
}

/** The name in a list such as ["place","Úbeda","city"]. */
function nameIn(list: string): string | undefined {
  const items = parsed(list);
  return Array.isArray(items) ? [items[1], items[0]].find((item) => typeof item === "string") : undefined;
}

function named(label: string, to: string): string {
  const name = /^sandbox:/i.test(to) ? unescaped(to.slice(to.lastIndexOf("/") + 1)) : "";
  return name && !label.includes(name) ? `${label} (${name})` : label;
}

/** Removes the frames of texts that ChatGPT wrote to be copied (`:::writing{…}` to `:::`); the texts' titles stay. */
function withoutWritingBlocks(lines: Line[]): Line[] {
  let isInside = false;
  return lines.flatMap((one) => {
    if (one.isCode) return [one];
    const [begun, before = "", about = ""] = /^(>?\s*):::writing(?:\{([^}\n]*)\})?\s*$/.exec(one.line) ?? [];
    if (begun !== undefined) {
      isInside = true;
      const [, title] = /(?:title|subject)=["“]([^"”]*)["”]/.exec(about) ?? [];
      return title ? [`${before}**${title}**`, before.trimEnd()].map((line) => ({ line, isCode: false })) : [];
    }
    if (!isInside || !/^>?\s*:::\s*$/.test(one.line)) return [one];
    isInside = false;
    return [];
  });
}
