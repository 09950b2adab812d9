import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

type Turn = { role: string; content: string };

/**
 * A model server that does the steps of errands: a plan of two parts, notes that repeat the first words between the marks, one more search,
 * sections and a summary that cite, also a source that is not there. `asked`: the questions, in order. `breaks`: how many are refused next; `takes`: ms for each.
 */
export async function startErrandModel() {
  const asked: string[] = [];
  const state = { breaks: 0, takes: 0, gate: undefined as Promise<void> | undefined };
  const plan = {
    titulo: "Informe del puente",
    partes: [
      { titulo: "Historia", busquedas: ["historia puente"] },
      { titulo: "Coste", busquedas: ["coste puente"] },
    ],
  };
  const answerTo = (system: string, question: string): string => {
    if (system.includes("Preparas el plan")) return `Aquí está:\n\`\`\`json\n${JSON.stringify(plan)}\n\`\`\``;
    if (question.includes("Anota lo que este texto dice")) {
      const data = /<([\w-]{8})>\n([\s\S]*?)\n<\/\1>/.exec(question)?.[2] ?? "";
      return data.includes("irrelevante") ? "NADA." : `Nota: ${data.slice(0, 60)}`;
    }
    if (question.includes("¿Falta algo importante")) {
      return question.includes("Parte: Coste") ? '{"busquedas": ["coste final puente"]}' : '{"busquedas": []}';
    }
    const cited = [...new Set([...question.matchAll(/\[(\d+)\]/g)].map(([, n]) => n))].filter(
      (n) => n !== "2" || !question.includes("como [2]"),
    );
    const marks = cited.map((n) => `[${n}]`).join("");
    if (question.includes("Escribe la parte")) return `Sección con fuentes ${marks} e inventadas [99].`;
    return `Resumen ${marks}.`;
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.url?.endsWith("/models")) return response.end(JSON.stringify({ data: [{ id: "becario" }] }));
    const { messages = [] } = JSON.parse(body || "{}") as { messages?: Turn[] };
    const said = (role: string) =>
      messages
        .filter((one) => one.role === role)
        .map(({ content }) => content)
        .join("\n");
    asked.push(said("user"));
    await state.gate;
    if (state.takes > 0) await wait(state.takes);
    if (state.breaks > 0) {
      state.breaks--;
      return response.writeHead(500).end("{}");
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta: object, finish_reason: string | null = null) =>
      response.write(`data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    send({ content: answerTo(said("system"), said("user")) });
    send({}, "stop");
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    state,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
