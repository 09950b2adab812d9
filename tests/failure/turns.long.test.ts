import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { type Program, send, startProgram, streamed } from "../support/doors.ts";
import { startServer } from "../support/server.ts";

type Reply = { status: string; content: string };

it("queued replies survive a restart and run one by one", async () => {
  const owed: ServerResponse[] = [];
  const upstream = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.method === "GET") response.end('{"data":[]}');
    // Titles wait for no turn.
    else if (body.includes("Pon título")) response.end(streamed("Un título"));
    else owed.push(response);
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const DATA_DIR = mkdtempSync(join(tmpdir(), "tertulia-"));
  const first = await startServer({ DATA_DIR });
  const program = await startProgram(first.url, "Admin");
  const model = { name: "uno", provider: "openai-compatible", externalId: "uno", baseUrl, atOnce: 1 };
  const made = await send(first.url, "/api/model", model, program.session);
  const { id: modelId } = (await made.json()) as { id: string };
  const chats: string[] = [];
  for (const content of ["uno", "dos", "tres"]) chats.push(await begin(program, content, modelId));
  await vi.waitFor(() => expect(owed).toHaveLength(1));
  await first.end();

  const second = await startServer({ DATA_DIR });
  const there = { ...program, url: second.url };
  let atOnce = 0;
  await vi.waitFor(
    async () => {
      const open = owed.filter(({ destroyed, writableEnded }) => !destroyed && !writableEnded);
      atOnce = Math.max(atOnce, open.length);
      for (const one of open) one.writeHead(200, { "Content-Type": "text/event-stream" }).end(streamed("Hecho"));
      const replies = await Promise.all(chats.map((chat) => replyIn(there, chat)));
      expect(replies.map(({ status }) => status)).toEqual(["complete", "complete", "complete"]);
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(atOnce).toBe(1);
  await second.end();
  upstream.closeAllConnections();
  upstream.close();
  rmSync(DATA_DIR, { recursive: true });
});

/** Begins a conversation and answers its id. */
async function begin({ url, session }: Program, content: string, modelId: string): Promise<string> {
  const answer = await send(url, "/api/intelligence/conversation", { content, modelId }, session);
  const reader = answer.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return /"chatId":"([\w-]+)"/.exec(new TextDecoder().decode(value))?.[1] ?? "";
}

async function replyIn({ url, key }: Program, chatId: string): Promise<Reply> {
  const answer = await fetch(`${url}/v1/api/chat/${chatId}/messages`, { headers: { Authorization: `Bearer ${key}` } });
  const { items } = (await answer.json()) as { items: Reply[] };
  return items.at(-1) ?? { status: "none", content: "" };
}
