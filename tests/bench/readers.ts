import { Agent, type IncomingMessage, request } from "node:http";
import { tokens } from "./model.ts";
import { cpuOf, memoryOf } from "./process.ts";

/** Somebody with an account, or a guest of the room at `room`: where it is, how they show who they are, and what their composer brings along. */
export type Person = { url: string; token: string; cookie: string; form: Record<string, string>; room?: string };
type Asked = { url: string; method?: string; headers?: Record<string, string>; body?: string };
type Answer = { status: number | undefined; location: string | undefined; text: string };
/** Asks for one reply and reads it to its end; what it asks for is watched for tokens. */
export type Reader = (ask: (asked: Asked) => Promise<Answer>) => Promise<void>;

// In characters: longest mark of time in the text of the model of the bench, which two pieces may share.
const tokenLength = 50;

/** Sends a message as a page without script does, and answers the address of its chat. */
async function send(
  ask: Parameters<Reader>[0],
  { url, cookie, form, room = "/conversation/chat" }: Person,
): Promise<string> {
  const headers = { Cookie: cookie, Origin: url, "Content-Type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ ...form, content: "Cuéntame" }).toString();
  const path = `${url}${room}`;
  const { location, status, text } = await ask({ url: path, method: "POST", headers, body });
  if (!location) throw new Error(`sending answered ${status}: ${text.slice(0, 300)}`);
  return new URL(location, url).href;
}

/** Reads a reply in the page that it grows in, without script. */
function document(person: Person): Reader {
  return async (ask) => {
    await ask({ url: await send(ask, person), headers: { Cookie: person.cookie } });
  };
}

/** The ways in which a reply is asked for and read. */
export const readers = {
  api:
    ({ url, token }: Person): Reader =>
    async (ask) => {
      const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
      const body = JSON.stringify({ content: "Cuéntame" });
      await ask({ url: `${url}/v1/api/intelligence/conversation`, method: "POST", headers, body });
    },
  door:
    ({ url, token }: Person): Reader =>
    async (ask) => {
      const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
      const body = JSON.stringify({ model: "banco", stream: true, messages: [{ role: "user", content: "Cuéntame" }] });
      await ask({ url: `${url}/v1/chat/completions`, method: "POST", headers, body });
    },
  documents: document,
  // By guests, who have no account.
  rooms: document,
  events:
    (person: Person): Reader =>
    async (ask) => {
      const headers = { Cookie: person.cookie };
      const chat = await send(ask, person);
      const page = await ask({ url: `${chat}.data`, headers });
      await ask({ url: `${person.url}/conversation/stream/${replyIn(page.text)}`, headers });
    },
};

/** The id of the reply among a page's data, where the values of an object follow each other. */
function replyIn(data: string): string {
  const [, id] = /"([0-9a-f-]{36})"(?:,"role")?,"assistant"/.exec(data) ?? [];
  if (!id) throw new Error(`there is no reply in ${data.slice(0, 500)}`);
  return id;
}

/** Lets so many read a reply each, begun evenly within some seconds, as people come. */
export async function load(
  pid: number | undefined,
  { count, within, length = tokens }: { count: number; within: number; length?: number },
  reader: (n: number) => Reader,
) {
  const firsts: number[] = [];
  const delays: number[] = [];
  let ended = 0;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(pid));
  }, 200);
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const cpuBefore = cpuOf(pid);
  const one = async (_: unknown, n: number) => {
    await new Promise((resolve) => setTimeout(resolve, (n / count) * within * 1000));
    const begun = performance.timeOrigin + performance.now();
    // Pages repeat some of what they have shown.
    const seen = new Set<string>();
    const watchTokens = (text: string) => {
      const now = performance.timeOrigin + performance.now();
      for (const [, at = "0", late = "0"] of text.matchAll(/tk([\d.]+)\+([\d.]+)[^\d.]/g)) {
        if (seen.has(at)) continue;
        if (seen.size === 0) firsts.push(now - begun - Number(late));
        else delays.push(now - Number(at));
        seen.add(at);
      }
    };
    await reader(n)((asked) => read(agent, asked, watchTokens));
    if (seen.size === length) ended++;
  };
  const results = await Promise.allSettled(Array.from({ length: count }, one));
  for (const { reason } of results.filter((result) => result.status === "rejected").slice(0, 3)) console.error(reason);
  clearInterval(watch);
  agent.destroy();
  return { cpu: cpuOf(pid) - cpuBefore, firsts, delays, ended, most };
}

function read(agent: Agent, { url, body, ...options }: Asked, watch: (text: string) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("data", (more: string) => {
        // A token may come in two pieces.
        watch(text.slice(-tokenLength) + more);
        text += more;
      });
      response.on("end", () => resolve({ status: response.statusCode, location: response.headers.location, text }));
      response.on("error", reject);
    };
    request(url, { ...options, agent }, answered)
      .on("error", reject)
      .end(body);
  });
}
