import { CannotDraw } from "../drawing.server.ts";
import { font, ink, shade } from "../palette.server.ts";
import { type LineKind, markedUp, readLine, wordsOf } from "./words.server.ts";

type Arrow = {
  kind: "arrow";
  from: number;
  to: number;
  text: string;
  isDashed: boolean;
  head: "full" | "open" | "cross" | "none";
  isBoth: boolean;
};
/** People within one frame, by place, and its title. */
type Box = { title: string; from: number; to: number };
type Item =
  | Arrow
  | { kind: "note"; from: number; to: number; side: "over" | "left" | "right"; text: string }
  | { kind: "open" | "branch"; name: string; text: string }
  | { kind: "close" };

// In pixels.
const letter = 7;
const lineHeight = 17;
const row = 34;
const gapAtLeast = 90;
const margin = 20;

const arrows = "<<-->>|<<->>|-->>|->>|--\\)|-\\)|--x|-x|-->|->";
const message = new RegExp(`^(.+?)\\s*(${arrows})\\s*[+-]?\\s*([^:]+?)\\s*:\\s*(.*)$`, "u");
const blocks = /^(loop|alt|opt|par|critical|break|rect)\b\s*(.*)$/;
const branches = /^(else|and|option)\b\s*(.*)$/;
const heads: Record<string, Arrow["head"]> = { ")": "open", x: "cross", ">>": "full" };

// The colour that may stand before the title of a box has no meaning.
const colour =
  /^(?:(?:rgba?|hsla?)\([^)]*\)|#[\da-f]{3,8}|(?:light|dark|medium|pale|deep|sky|hot)?(?:aqua|beige|black|blue|brown|coral|cyan|gold|gray|green|grey|indigo|ivory|lavender|lime|magenta|maroon|navy|olive|orange|pink|purple|red|salmon|silver|tan|teal|transparent|turquoise|violet|white|yellow))(?:\s+|$)/i;

/** A sequence of messages of Mermaid as SVG. Throws CannotDraw where any of it is not understood. */
export function sequenceAsSvg(lines: string[]): string {
  const { names, items, boxes } = new Reading(lines);
  if (names.length === 0) throw new CannotDraw("No se entiende como Mermaid: no dibuja nada.");
  return new Drawing(names, items, boxes).svg();
}

/** Lines of a sequence, one after the other, as the names in it and its items from top to bottom. */
class Reading {
  readonly names: string[] = [];
  readonly items: Item[] = [];
  readonly boxes: Box[] = [];
  #box: Box | undefined;
  readonly #ids: string[] = [];
  readonly #open: string[] = [];
  #number: number | undefined;

  readonly #kinds: LineKind[] = [
    [/^(?:create\s+)?(?:participant|actor)\s+(.+?)(?:\s+as\s+(.+))?$/, (id = "", name) => this.#name(id, name || id)],
    [
      /^note\s+(over|left|right)(?: of)?\s+([^:,]+?)\s*(?:,\s*([^:]+?))?\s*:\s*(.*)$/i,
      (side, from = "", to, text) => this.#note(side, from, to || from, text),
    ],
    [/^box\b\s*(.*)$/, (text) => this.#openBox(text)],
    [blocks, (name, text) => this.#block(name, text)],
    [branches, (_name, text) => this.#branch(text)],
    [/^end$/, () => this.#end()],
    [/^autonumber(?:\s+(\d+))?(?:\s+\d+)?$/, (from) => this.#numberFrom(Number(from || 1))],
    [message, (from, arrow, to, text) => this.#arrow(from, arrow, to, text)],
    [/^(?:(?:de)?activate|destroy)\s+\S|^title\b|^acc(?:Title|Descr)\b|^links?\s/, () => true],
  ];

  /** Throws CannotDraw where a line is not understood. */
  constructor(lines: string[]) {
    for (const line of lines) readLine(line, this.#kinds);
    if (this.#open.length > 0) throw new CannotDraw("No se entiende como Mermaid: le falta un «end».");
  }

  #placeOf(id: string): number {
    const at = this.#ids.indexOf(id);
    if (at >= 0) return at;
    this.names.push(wordsOf(id));
    return this.#ids.push(id) - 1;
  }

  #name(id: string, name: string): void {
    const place = this.#placeOf(id);
    this.names[place] = wordsOf(name);
    if (!this.#box) return;
    if (this.#box.from > this.#box.to) this.boxes.push(this.#box);
    this.#box.from = Math.min(this.#box.from, place);
    this.#box.to = Math.max(this.#box.to, place);
  }

  #openBox(text: string): void {
    this.#open.push("box");
    this.#box = { title: wordsOf(text.replace(colour, "")), from: Number.POSITIVE_INFINITY, to: -1 };
  }

  #note(side: string, first: string, last: string, text: string): void {
    const ends = [this.#placeOf(first), this.#placeOf(last)];
    const at = side.toLowerCase();
    this.items.push({
      kind: "note",
      from: Math.min(...ends),
      to: Math.max(...ends),
      side: at === "left" || at === "right" ? at : "over",
      text: wordsOf(text),
    });
  }

  // A coloured background («rect») has no meaning, and is not drawn.
  #block(name: string, text: string): void {
    this.#open.push(name);
    if (name !== "rect") this.items.push({ kind: "open", name, text: wordsOf(text) });
  }

  #branch(text: string): boolean {
    if (this.#open.length === 0) return false;
    this.items.push({ kind: "branch", name: "", text: wordsOf(text) });
    return true;
  }

  #end(): boolean {
    const ended = this.#open.pop();
    if (ended === "box") this.#box = undefined;
    else if (ended !== undefined && ended !== "rect") this.items.push({ kind: "close" });
    return ended !== undefined;
  }

  #numberFrom(first: number): void {
    this.#number = first;
  }

  #arrow(from: string, arrow: string, to: string, text: string): void {
    const words = wordsOf(text);
    const head = Object.entries(heads).find(([mark]) => arrow.endsWith(mark))?.[1] ?? "none";
    this.items.push({
      ...{ kind: "arrow", from: this.#placeOf(from), to: this.#placeOf(to), head, isDashed: arrow.includes("--") },
      ...{ isBoth: arrow.startsWith("<<"), text: this.#number === undefined ? words : `${this.#number}. ${words}` },
    });
    if (this.#number !== undefined) this.#number++;
  }
}

const linesOf = (text: string) => text.split("\n");
const widthOf = (text: string) => Math.max(...linesOf(text).map(({ length }) => length)) * letter;

class Drawing {
  readonly #names: string[];
  readonly #items: Item[];
  readonly #frames: Box[];
  readonly #x: number[] = [];
  readonly #boxes: number[];
  readonly #out: string[] = [];
  #right = 0;

  constructor(names: string[], items: Item[], frames: Box[]) {
    this.#names = names;
    this.#items = items;
    this.#frames = frames;
    this.#boxes = names.map((name) => Math.max(70, widthOf(name) + 24));
    for (const { title, from, to } of frames)
      if (from === to) this.#boxes[from] = Math.max(this.#boxes[from] ?? 0, widthOf(title));
    this.#place();
  }

  /** Places the columns far enough apart for the texts between them. */
  #place(): void {
    const gaps = this.#names.map((_, n) =>
      Math.max(gapAtLeast, ((this.#boxes[n] ?? 0) + (this.#boxes[n + 1] ?? 0)) / 2 + 24),
    );
    let left = 0;
    for (const { title, from, to } of this.#frames) if (from < to) this.#widen(gaps, from, to, widthOf(title));
    for (const item of this.#items) {
      if (item.kind === "arrow" && item.from !== item.to)
        this.#widen(gaps, item.from, item.to, widthOf(item.text) + 30);
      else if (item.kind === "arrow") gaps[item.from] = Math.max(gaps[item.from] ?? 0, widthOf(item.text) + 60);
      else if (item.kind === "note" && item.side === "over" && item.from !== item.to)
        this.#widen(gaps, item.from, item.to, widthOf(item.text) - 20);
      else if (item.kind === "note" && item.side === "right")
        gaps[item.from] = Math.max(gaps[item.from] ?? 0, widthOf(item.text) + 50);
      else if (item.kind === "note" && item.side === "left") {
        const needed = widthOf(item.text) + 50;
        if (item.from === 0) left = Math.max(left, needed - (this.#boxes[0] ?? 0) / 2);
        else gaps[item.from - 1] = Math.max(gaps[item.from - 1] ?? 0, needed);
      } else if (item.kind === "note") {
        const half = widthOf(item.text) / 2 + 16;
        if (item.from === 0) left = Math.max(left, half - (this.#boxes[0] ?? 0) / 2);
        else gaps[item.from - 1] = Math.max(gaps[item.from - 1] ?? 0, half + 40);
        gaps[item.from] = Math.max(gaps[item.from] ?? 0, half + 40);
      }
    }
    let x = margin * 2 + left + (this.#boxes[0] ?? 0) / 2;
    for (const gap of gaps) {
      this.#x.push(x);
      x += gap;
    }
    const beside = this.#items.flatMap((item) => {
      if (item.kind === "note" && item.side === "right") return (this.#x[item.from] ?? 0) + 36 + widthOf(item.text);
      if (item.kind === "note")
        return ((this.#x[item.from] ?? 0) + (this.#x[item.to] ?? 0) + widthOf(item.text)) / 2 + 12;
      return item.kind === "arrow" && item.from === item.to ? (this.#x[item.from] ?? 0) + widthOf(item.text) + 16 : [];
    });
    const boxes = this.#x.map((one, n) => one + (this.#boxes[n] ?? 0) / 2);
    this.#right = Math.max(...boxes, ...beside) + margin * 2;
  }

  #widen(gaps: number[], a: number, b: number, needed: number): void {
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    const there = gaps.slice(from, to).reduce((sum, gap) => sum + gap, 0);
    const more = Math.max(0, needed - there) / Math.max(1, to - from);
    for (let n = from; n < to; n++) gaps[n] = (gaps[n] ?? 0) + more;
  }

  svg(): string {
    const top = margin + (this.#frames.length > 0 ? lineHeight : 0);
    const head = Math.max(...this.#names.map((name) => linesOf(name).length)) * lineHeight + 16;
    let y = top + head + 14;
    const frames: { y: number; depth: number; item: { name: string; text: string } }[] = [];
    for (const item of this.#items) {
      const height = (text: string) => (linesOf(text).length - 1) * lineHeight;
      if (item.kind === "arrow") {
        y += row + height(item.text);
        this.#arrow(item, y);
        if (item.from === item.to) y += 22;
      } else if (item.kind === "note") {
        const tall = height(item.text) + 26;
        this.#note(item, y + 10, tall);
        y += tall + 14;
      } else if (item.kind === "open") {
        y += 16;
        frames.push({ y, depth: frames.length, item });
        y += 22;
      } else if (item.kind === "branch") {
        y += 16;
        const depth = frames.length - 1;
        this.#out.push(
          line(
            this.#edge(depth),
            y,
            this.#right - this.#edge(depth),
            y,
            `stroke="${shade(0.4)}" stroke-dasharray="4 4"`,
          ),
        );
        if (item.text)
          this.#out.push(
            words(this.#edge(depth) + 12, y + 16, `[${item.text}]`, `font-size="12" fill="${shade(0.75)}"`),
          );
        y += 20;
      } else {
        y += 14;
        const frame = frames.pop();
        if (frame) this.#frame(frame, y);
        y += 6;
      }
    }
    const bottom = y + 24;
    const lifelines = this.#x.map((x) =>
      line(x, top + head, x, bottom, `stroke="${shade(0.35)}" stroke-dasharray="3 4"`),
    );
    const boxes = this.#names.flatMap((name, n) => this.#box(n, name, top, head));
    const around = this.#frames.flatMap((frame) => this.#around(frame, bottom));
    const size = `width="${Math.ceil(this.#right)}" height="${Math.ceil(bottom + margin)}"`;
    const defs = `<defs><marker id="full" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="9" markerHeight="9" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="${ink}"/></marker><marker id="open" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="10" markerHeight="10" orient="auto-start-reverse"><path d="M1 1L10 5L1 9" fill="none" stroke="${ink}"/></marker><marker id="cross" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="11" markerHeight="11" orient="auto"><path d="M2 1L8 9M8 1L2 9" stroke="${ink}" stroke-width="1.5"/></marker></defs>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(this.#right)} ${Math.ceil(bottom + margin)}" ${size} font-family="${font}" font-size="13">${defs}${around.join("")}${lifelines.join("")}${boxes.join("")}${this.#out.join("")}</svg>`;
  }

  #around({ title, from, to }: Box, bottom: number): string[] {
    const left = (this.#x[from] ?? 0) - (this.#boxes[from] ?? 0) / 2 - 8;
    const right = (this.#x[to] ?? 0) + (this.#boxes[to] ?? 0) / 2 + 8;
    const y = margin / 2;
    return [
      `<rect x="${left}" y="${y}" width="${right - left}" height="${bottom - y + 8}" rx="4" fill="${shade(0.05)}" stroke="${shade(0.2)}"/>`,
      words((left + right) / 2, y + 14, title, `text-anchor="middle" font-size="12" fill="${ink}"`),
    ];
  }

  #edge = (depth: number) => margin / 2 + depth * 8;

  #box(n: number, name: string, y: number, height: number): string[] {
    const width = this.#boxes[n] ?? 0;
    const x = this.#x[n] ?? 0;
    const first = y + height / 2 - ((linesOf(name).length - 1) * lineHeight) / 2 + 4;
    return [
      `<rect x="${x - width / 2}" y="${y}" width="${width}" height="${height}" rx="4" fill="white" stroke="${shade(0.4)}"/>`,
      words(x, first, name, `text-anchor="middle" font-weight="bold" fill="${ink}"`),
    ];
  }

  #arrow({ from, to, text, isDashed, head, isBoth }: Arrow, y: number): void {
    const [a, b] = [this.#x[from] ?? 0, this.#x[to] ?? 0];
    const end = head === "none" ? "" : ` marker-end="url(#${head})"`;
    const start = isBoth ? ` marker-start="url(#full)"` : "";
    const look = `stroke="${ink}" fill="none"${isDashed ? ' stroke-dasharray="5 4"' : ""}${end}${start}`;
    const first = y - 8 - (linesOf(text).length - 1) * lineHeight;
    if (from === to) {
      this.#out.push(`<path d="M${a} ${y}h36v20H${a + 2}" ${look}/>`, words(a + 8, first, text, `fill="${ink}"`));
      return;
    }
    this.#out.push(line(a, y, b, y, look), words((a + b) / 2, first, text, `text-anchor="middle" fill="${ink}"`));
  }

  #note({ from, to, side, text }: Extract<Item, { kind: "note" }>, y: number, height: number): void {
    const [a, b] = [this.#x[from] ?? 0, this.#x[to] ?? 0];
    const own = widthOf(text) + 24;
    const width = side === "over" ? Math.max(own, b - a + 40) : own;
    const x = side === "over" ? (a + b) / 2 - width / 2 : side === "right" ? a + 12 : a - 12 - width;
    this.#out.push(
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#fff6d6" stroke="${shade(0.3)}"/>`,
      words(x + width / 2, y + 18, text, `text-anchor="middle" font-size="12" fill="${ink}"`),
    );
  }

  #frame({ y, depth, item }: { y: number; depth: number; item: { name: string; text: string } }, until: number): void {
    const x = this.#edge(depth);
    const title = item.text ? `${item.name} [${item.text}]` : item.name;
    const width = widthOf(title) + 14;
    this.#out.push(
      `<rect x="${x}" y="${y}" width="${this.#right - 2 * x}" height="${until - y}" fill="none" stroke="${shade(0.4)}"/>`,
      `<path d="M${x} ${y}h${width}v12l-8 8H${x}z" fill="${shade(0.08)}" stroke="${shade(0.4)}"/>`,
      words(x + 6, y + 15, title, `font-size="12" fill="${ink}"`),
    );
  }
}

const line = (x1: number, y1: number, x2: number, y2: number, look: string) =>
  `<path d="M${x1} ${y1}L${x2} ${y2}" ${look}/>`;

function words(x: number, y: number, text: string, look: string): string {
  const parts = linesOf(text).map(
    (one, n) => `<tspan x="${x}" dy="${n === 0 ? 0 : lineHeight}">${markedUp(one)}</tspan>`,
  );
  return text ? `<text x="${x}" y="${y}" ${look}>${parts.join("")}</text>` : "";
}
