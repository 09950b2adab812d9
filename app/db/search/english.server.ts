import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stemOf } from "./words.server.ts";

// Words that occur in sentences of one language and not of the other. «\b» would end a word before an accented letter.
const english =
  /(?<!\p{L})(?:the|is|are|was|were|what|which|when|where|who|how|why|do|does|did|can|could|should|must|for|of|with|and|any|my|our|your|to|if|it|there|have)(?!\p{L})/giu;
const spanish =
  /(?<!\p{L})(?:el|la|los|las|de|del|que|qué|es|en|un|una|por|para|con|se|cuándo|cuánto|cómo|dónde|quién|hay|y)(?!\p{L})/giu;

/** Whether a question is in English. */
export function isEnglish(question: string): boolean {
  const count = (words: RegExp) => question.match(words)?.length ?? 0;
  return count(english) > count(spanish);
}

let translations: Map<string, string[]> | undefined;

/** Spanish words for an English one, all as they are indexed. Without the dictionary there are none. */
export function translationsOf(stem: string): string[] {
  translations ??= readDictionary();
  return translations.get(stem) ?? [];
}

/** Reads the dictionary beside package.json, in a folder above both the sources and the built files. */
function readDictionary(): Map<string, string[]> {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  const path = join(folder, "dictionaries/english-spanish.txt");
  const found = new Map<string, string[]>();
  if (!existsSync(path)) return found;
  for (const line of readFileSync(path, "utf8").trim().split("\n")) {
    const [head = "", ...words] = line.split(" ").map(stemOf);
    found.set(head, [...new Set([...(found.get(head) ?? []), ...words])]);
  }
  return found;
}
