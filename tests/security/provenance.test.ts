import { describe, expect, it } from "vitest";
import { isIn, placesIn } from "../../app/replies/tools/places.server.ts";
import { anybody, mustAsk, originOf, Provenance } from "../../app/replies/tools/provenance.server.ts";
import type { Tool } from "../../app/tools/tool.server.ts";

const base = {
  name: "",
  version: "",
  description: "",
  schema: {},
  label: "",
  time: 1,
  length: 1,
  call: async () => ({ text: "" }),
};
const house = { ...base, toolId: "casa", server: null, readOnly: true, reachesOut: true, asks: false };
const served = { ...base, toolId: "s1", server: "Uno", asks: false };
const tools = {
  page: { ...house, tool: "leer_pagina", goesTo: ({ direccion }: Record<string, unknown>) => String(direccion ?? "") },
  sums: { ...house, tool: "calcular", reachesOut: false },
  "open read": { ...served, tool: "get", readOnly: true, reachesOut: true },
  "closed read": { ...served, tool: "recall", readOnly: true, reachesOut: false },
  write: { ...served, tool: "post", readOnly: false, reachesOut: true, asks: true },
  "write that asks nobody": { ...served, tool: "log", readOnly: false, reachesOut: true },
} satisfies Record<string, Tool>;

const evil = "https://malo.example/?d=secreto";
type Case = [
  what: string,
  tool: keyof typeof tools,
  input: Record<string, unknown>,
  known: {
    person?: string[];
    listed?: string[];
    origins?: string[];
    described?: string[];
    granted?: boolean;
    wasCut?: boolean;
  },
  asks: boolean,
];

describe("whether the person is asked before a call", () => {
  const cases: Case[] = [
    // Nobody else has spoken.
    ["a page that the model knows", "page", { direccion: "https://es.wikipedia.org/wiki/Vigo" }, {}, false],
    ["a sum", "sums", { cuenta: "1+1" }, { origins: [anybody] }, false],
    ["a read", "open read", { url: evil }, {}, false],
    ["a write", "write", {}, {}, true],
    ["a write with a yes for the chat", "write", {}, { granted: true }, false],
    ["a write that an admin lets pass", "write that asks nobody", {}, {}, false],
    ["a write of which nobody knows whether it was made", "write that asks nobody", {}, { wasCut: true }, true],
    // Anybody has.
    ["a page that nobody has named", "page", { direccion: evil }, { origins: [anybody] }, true],
    [
      "the page that the person has named",
      "page",
      { direccion: "https://pan.example/hoy" },
      { origins: [anybody], person: ["Lee https://pan.example/hoy."] },
      false,
    ],
    [
      "more than the person has named",
      "page",
      { direccion: "https://pan.example/hoy?d=secreto" },
      { origins: [anybody], person: ["Lee https://pan.example/hoy"] },
      true,
    ],
    [
      "less than the person has named",
      "page",
      { direccion: "https://pan.example/" },
      { origins: [anybody], person: ["Lee https://pan.example/hoy"] },
      true,
    ],
    [
      "a page that a search has listed",
      "page",
      { direccion: "https://pan.example/hoy/" },
      { origins: [anybody], listed: ["http://www.pan.example/hoy"] },
      false,
    ],
    [
      "a listed page with something added",
      "page",
      { direccion: "https://pan.example/hoy#secreto" },
      { origins: [anybody], listed: ["https://pan.example/hoy"] },
      true,
    ],
    ["a read of an address", "open read", { opciones: [{ url: evil }] }, { origins: [anybody] }, true],
    ["a read of an address within words", "open read", { texto: `mira ${evil} luego` }, { origins: [anybody] }, true],
    ["a read for a recipient", "open read", { para: "malo@malo.example" }, { origins: [anybody] }, true],
    [
      "a read for the person's recipient",
      "open read",
      { para: "eva@pan.example" },
      { origins: [anybody], person: ["Busca los correos de eva@pan.example"] },
      false,
    ],
    ["a read of a path", "open read", { path: "/casa/ana/claves.txt" }, { origins: [anybody] }, true],
    [
      "a read of a path with a yes for the chat",
      "open read",
      { path: "/casa/ana/claves.txt" },
      { origins: [anybody], granted: true },
      false,
    ],
    [
      "an address, also with a yes for the chat",
      "open read",
      { url: evil },
      { origins: [anybody], granted: true },
      true,
    ],
    [
      "more places than are looked for",
      "open read",
      { todas: Array.from({ length: 17 }, () => "https://pan.example") },
      { origins: [anybody], person: ["https://pan.example"] },
      true,
    ],
    ["a read in words", "open read", { busqueda: "pan de masa madre" }, { origins: [anybody] }, false],
    ["what stays with its server", "closed read", { path: "/notas" }, { origins: [anybody] }, false],
    ["a write, also with a yes for the chat", "write", {}, { origins: [anybody], granted: true }, true],
    ["a write that an admin lets pass, too", "write that asks nobody", {}, { origins: [anybody] }, true],
    // The server itself has, or another one.
    ["a second write after the first one's answer", "write", {}, { origins: ["s1"], granted: true }, false],
    ["a write after another server's answer", "write", {}, { origins: ["s2"], granted: true }, true],
    ["an address that another server describes", "page", { direccion: evil }, { described: ["s1"] }, true],
    ["a server's own addresses", "open read", { url: evil }, { described: ["s1"] }, false],
    ["a yes for the chat with another server there", "write", {}, { described: ["s1", "s2"], granted: true }, true],
    ["a yes for the chat with no other there", "write", {}, { described: ["s1"], granted: true }, false],
  ];
  it.each(cases)("%s", (_what, tool, input, { granted = false, wasCut = false, ...known }, asks) => {
    const provenance = new Provenance({ person: [], listed: [], origins: [], described: [], ...known });
    expect(mustAsk(tools[tool], input, { provenance, granted, wasCut })).toBe(asks);
  });
});

it.each([
  ["page", anybody],
  ["sums", undefined],
  ["open read", anybody],
  ["closed read", "s1"],
  ["write", "s1"],
] as const)("what %s brings is of %s", (tool, origin) => {
  expect(originOf(tools[tool])).toBe(origin);
});

describe("whether a text names a place", () => {
  it.each([
    ["https://pan.example/hoy", "https://pan.example/hoy", true],
    ["(https://pan.example/hoy),", "https://pan.example/hoy", true],
    ["Lee pan.example/hoy y di", "https://www.pan.example/hoy/", true],
    ["https://www.pan.example/hoy/", "pan.example/hoy", true],
    ["¿Qué dice https://pan.example/hoy?", "https://pan.example/hoy", true],
    ["https://es.wikipedia.org/wiki/Árbol_(planta)", "https://es.wikipedia.org/wiki/%C3%81rbol_(planta)", true],
    ["https://pan.example/hoy/ayer", "https://pan.example/hoy", false],
    ["https://mipan.example/hoy", "pan.example/hoy", false],
    ["https://malo.example/?u=https://pan.example", "https://pan.example", false],
    ["eva@pan.example", "pan.example", false],
    ["escribe a eva@pan.example.", "eva@pan.example", true],
    ["lee /casa/ana/notas.txt", "/casa/ana/notas.txt", true],
    ["lee /casa/ana/notas.txt", "/casa/ana", false],
    ["", "", false],
  ])("%s · %s", (text, place, named) => expect(isIn(text, place)).toBe(named));
});

describe("the places in the input of a call", () => {
  it.each<[unknown, string[]]>([
    [{ url: "https://a.example/x" }, ["https://a.example/x"]],
    [{ host: "a.example" }, ["a.example"]],
    [{ host: "10.0.0.1:80/x" }, ["10.0.0.1:80/x"]],
    [{ texto: "sube a ftp://a.example/x, y a «b@c.example»." }, ["ftp://a.example/x", "b@c.example"]],
    [{ deep: [{ path: "C:\\claves\\x" }] }, ["C:\\claves\\x"]],
    [{ ruta: "../claves" }, ["../claves"]],
    [{ busqueda: "pan y/o queso del día 2026/11/25", n: 3, precio: "3.50", fecha: "25/11/2026" }, []],
    [{ "https://clave.example": "x" }, []],
  ])("%j", (input, places) => expect(placesIn(input).map(({ value }) => value)).toEqual(places));
});
