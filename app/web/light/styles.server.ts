import postcss, { type AtRule, type ChildNode, type Declaration, type Rule } from "postcss";
import css from "../../app.css?inline";

/** Parts of a page that a selector needs to match: its classes and tags, outside `:is()`, `:not()` and `:has()`. */
type Selector = { text: string; classes: string[]; tags: string[] };
type Style = { kind: "style"; selectors: Selector[]; declarations: Declared[]; nested: string };
type Declared = { name: string; text: string; uses: string[] };
/** A rule with a name, kept if something that is kept mentions it: `@keyframes` and `@property`. */
type Named = { kind: "named"; name: string; text: string };
type Group = { kind: "group"; open: string; children: Sheet };
type Sheet = (Style | Named | Group | string)[];

let sheet: Sheet | undefined;

/** The rules of the style sheet that a page uses: a sixth of it, which fits into the page's first round trip. */
export function stylesOf(html: string): string {
  sheet ??= readSheet(postcss.parse(css).nodes);
  const page = {
    classes: new Set([...html.matchAll(/\sclass="([^"]*)"/g)].flatMap(([, names = ""]) => names.split(/\s+/))),
    tags: new Set([...html.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, name = ""]) => name)),
  };
  const matched = select(sheet, page);
  const properties = usedProperties(matched);
  const styles = write(matched, properties);
  return (
    styles +
    names(matched)
      .filter(({ name }) => styles.includes(name))
      .map(({ text }) => text)
      .join("")
  );
}

function readSheet(nodes: ChildNode[]): Sheet {
  return nodes.flatMap((node): Sheet => {
    if (node.type === "rule") return [readRule(node)];
    if (node.type !== "atrule") return [];
    if (node.name === "keyframes" || node.name === "property") {
      return [{ kind: "named", name: node.params, text: compact(node.toString()) }];
    }
    // A light page has no script, also in a browser that would run one.
    const scripting = /^\(scripting: ?(enabled|none)\)$/.exec(node.params)?.[1];
    if (scripting === "enabled") return [];
    if (scripting === "none") return readSheet(node.nodes ?? []);
    const open = `@${node.name} ${node.params}`;
    if (!node.nodes) return [`${open};`];
    return [{ kind: "group", open, children: readSheet(node.nodes) }];
  });
}

function readRule(rule: Rule): Style {
  const isDeclaration = (node: ChildNode): node is Declaration => node.type === "decl";
  const isNested = (node: ChildNode): node is Rule | AtRule => node.type === "rule" || node.type === "atrule";
  return {
    kind: "style",
    selectors: rule.selectors.map(readSelector),
    declarations: rule.nodes.filter(isDeclaration).map(({ prop, value, important }) => ({
      name: prop,
      text: `${prop}:${value}${important ? "!important" : ""};`,
      uses: [...value.matchAll(/--[\w-]+/g)].map(([name]) => name),
    })),
    nested: rule.nodes
      .filter(isNested)
      .map((node) => compact(node.toString()))
      .join(""),
  };
}

function readSelector(text: string): Selector {
  let bare = text.replace(/"[^"]*"|\[[^\]]*\]/g, "");
  for (let inner = ""; inner !== bare; ) {
    inner = bare;
    bare = bare.replace(/(?<!\\)::?[\w-]+\([^()]*\)/g, "");
  }
  bare = bare.replace(/(?<!\\)::?[\w-]+/g, "");
  return {
    text,
    classes: [...bare.matchAll(/\.((?:\\.|[\w-])+)/g)].map(([, name = ""]) => name.replaceAll("\\", "")),
    tags: [...bare.matchAll(/(?:^|[\s>+~])([a-z][a-z0-9]*)/g)].map(([, name = ""]) => name),
  };
}

const compact = (text: string) => text.replace(/\s+/g, " ");

type Page = { classes: Set<string>; tags: Set<string> };

function select(nodes: Sheet, page: Page): Sheet {
  return nodes.flatMap((node): Sheet => {
    if (typeof node === "string" || node.kind === "named") return [node];
    if (node.kind === "group") {
      const children = select(node.children, page);
      return children.length > 0 ? [{ ...node, children }] : [];
    }
    const selectors = node.selectors.filter(
      ({ classes, tags }) =>
        classes.every((name) => page.classes.has(name)) && tags.every((name) => page.tags.has(name)),
    );
    return selectors.length > 0 ? [{ ...node, selectors }] : [];
  });
}

const stylesIn = (nodes: Sheet): Style[] =>
  nodes.flatMap((node) =>
    typeof node === "string" || node.kind === "named" ? [] : node.kind === "style" ? [node] : stylesIn(node.children),
  );

const names = (nodes: Sheet): Named[] =>
  nodes.flatMap((node) =>
    typeof node === "string" || node.kind === "style" ? [] : node.kind === "named" ? [node] : names(node.children),
  );

/** The custom properties that a declaration uses, directly or by way of other properties. */
function usedProperties(nodes: Sheet): Set<string> {
  const styles = stylesIn(nodes);
  const declared = styles.flatMap(({ declarations }) => declarations);
  const isCustom = ({ name }: Declared) => name.startsWith("--");
  const used = new Set(declared.filter((one) => !isCustom(one)).flatMap(({ uses }) => uses));
  for (const { nested } of styles) for (const [name] of nested.matchAll(/--[\w-]+/g)) used.add(name);
  const custom = Map.groupBy(declared.filter(isCustom), ({ name }) => name);
  // A loop over a set also visits the items that are added meanwhile.
  for (const name of used) for (const { uses } of custom.get(name) ?? []) for (const next of uses) used.add(next);
  return used;
}

function write(nodes: Sheet, properties: Set<string>): string {
  return nodes
    .map((node) => {
      if (typeof node === "string") return node;
      if (node.kind === "named") return "";
      if (node.kind === "group") {
        const inside = write(node.children, properties);
        return inside && `${node.open}{${inside}}`;
      }
      const body = node.declarations
        .filter(({ name }) => !name.startsWith("--") || properties.has(name))
        .map(({ text }) => text)
        .join("");
      return body || node.nested ? `${node.selectors.map(({ text }) => text).join()}{${body}${node.nested}}` : "";
    })
    .join("");
}
