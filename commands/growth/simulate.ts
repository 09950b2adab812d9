// `npm run crecer [-- people…]` says what so many people need and which part gives out first, from measured costs (costs.json, made by
// `npm run bench:grown -- --save`) and a simulated busy hour. docs/crecer.md reads its answer.

import { readFileSync } from "node:fs";
import { busiestHour, type Habits, type MeasuredCosts, type Peak } from "./day.ts";

const habits: Habits = {
  active: 0.3,
  messages: 8,
  busiest: 0.14,
  pages: 2.5,
  tokens: 300,
  spread: 0.8,
  speed: 40,
  documents: 0.1,
  documentBytes: 800_000,
};
const workingDays = 230;
// A part that is busier than this makes people wait.
const busyAtMost = 0.6;
// One machine of each, of the larger ones that can be had; Redis uses one core.
const largest = { postgresCores: 64, wal: 400e6, redisCores: 1, connections: 3_000 };
// A process: what it holds when nothing runs, and for each reply; its connections to PostgreSQL, where four share eighty.
const eachProcess = { memory: 150e6, reply: 0.1e6, connections: 20 };
// From here on one table of messages is better split by months (docs/crecer.md).
const rowsOfOneTable = 500_000_000;

const { two } = JSON.parse(readFileSync(new URL("./costs.json", import.meta.url), "utf8")) as { two: MeasuredCosts };
const asked = process.argv
  .slice(2)
  .map(Number)
  .filter((people) => people > 0);
const sizes = asked.length > 0 ? asked : [1_000, 100_000, 10_000_000];
const columns = sizes.map((people) => column(people));

const width = 22;
for (const [index, [label]] of (columns[0] ?? []).entries()) {
  console.log(label.padEnd(46) + columns.map((rows) => (rows[index]?.[1] ?? "").padStart(width)).join(""));
}

function column(people: number): [label: string, text: string][] {
  const peak = busiestHour(people, habits, two);
  const daily = people * habits.active * habits.messages;
  const cores = (ms: number) => ms / 1000 / busyAtMost;
  const processes = Math.max(1, Math.ceil(cores(peak.app)));
  const yearly = workingDays * daily;
  const perMessage = (two.reply.disk + two.token.disk * habits.tokens) * yearly;
  const connections = processes * eachProcess.connections;
  return [
    ["Personas", number(people)],
    ["Mensajes en un día", number(daily)],
    ["Respuestas a la vez, en la hora punta", number(peak.running)],
    ["Respuestas que empiezan en un segundo", number(peak.started)],
    ["Páginas en un segundo", number(peak.pages)],
    ["Tertulia: procesos (núcleos)", number(processes)],
    ["Tertulia: memoria", bytes(processes * eachProcess.memory + peak.running * eachProcess.reply)],
    ["PostgreSQL: núcleos", number(cores(peak.postgres), 1)],
    ["PostgreSQL: transacciones por segundo", number(peak.commits)],
    ["PostgreSQL: filas escritas por segundo", number(peak.rows)],
    ["PostgreSQL: registro (WAL) por segundo", bytes(peak.wal)],
    ["PostgreSQL: conexiones", number(connections)],
    ["PostgreSQL: crece en un año", bytes(perMessage)],
    ["  de mensajes, en filas", number(2 * yearly)],
    ["Redis: órdenes por segundo", number(peak.commands)],
    ["Redis: de su núcleo", `${number(cores(peak.redis) * 100)} %`],
    ["S3: archivos guardados en un día", number(people * habits.active * habits.documents)],
    ["S3: crece en un año", bytes(people * habits.active * habits.documents * habits.documentBytes * workingDays)],
    ["Lo primero que no da", first(peak, connections, 2 * yearly)],
  ];
}

/** The part that is used most, of what the largest machine of its kind gives. */
function first(peak: Peak, connections: number, rows: number): string {
  const used: [what: string, share: number][] = [
    ["CPU PostgreSQL", peak.postgres / 1000 / busyAtMost / largest.postgresCores],
    ["WAL", peak.wal / largest.wal],
    ["conexiones", connections / largest.connections],
    ["Redis", peak.redis / 1000 / busyAtMost / largest.redisCores],
    ["tabla mensajes", rows / rowsOfOneTable],
  ];
  const [what, share] = used.reduce((most, one) => (one[1] > most[1] ? one : most));
  return share < 1 ? "nada" : `${what} ×${number(share, 1)}`;
}

function number(value: number, digits = 0): string {
  return value.toLocaleString("es", { maximumFractionDigits: digits, useGrouping: "always" });
}

function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const power = value > 0 ? Math.min(units.length - 1, Math.floor(Math.log10(value) / 3)) : 0;
  return `${number(value / 1000 ** power, 1)} ${units[power]}`;
}
