import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

export type FakeEntry = { dn: string; attributes: Record<string, (string | Buffer)[]> };
/** `bind`: code of the result and its message; `search`: entries found below a base, or the code of a refusal. */
export type Answers = {
  bind?(dn: string): { code: number; message?: string };
  search?(base: string, request: string): FakeEntry[] | number;
};

/** An LDAP server (RFC 4511) that answers as Active Directory and others do, and OpenLDAP does not. */
export async function startFakeDirectory({ bind = () => ({ code: 0 }), search = () => [] }: Answers) {
  const server = createServer((socket) => {
    let held = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      held = Buffer.concat([held, bytes]);
      for (let whole = part(held, 0); whole.to <= held.length && held.length > 1; whole = part(held, 0)) {
        const message = held.subarray(0, whole.to);
        held = held.subarray(whole.to);
        const id = part(message, whole.from);
        const request = part(message, id.to);
        const send = (answer: Buffer) =>
          socket.write(element(0x30, element(2, message.subarray(id.from, id.to)), answer));
        if (request.tag === unbind) socket.end();
        else if (request.tag === bindRequest) {
          const dn = part(message, part(message, request.from).to);
          const { code, message: why = "" } = bind(message.toString("utf8", dn.from, dn.to));
          send(result(0x61, code, why));
        } else if (request.tag === searchRequest) {
          const base = part(message, request.from);
          const found = search(message.toString("utf8", base.from, base.to), message.toString("utf8"));
          if (typeof found === "number") send(result(0x65, found, ""));
          else {
            for (const entry of found) send(entryElement(entry));
            send(result(0x65, 0, ""));
          }
        }
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

const bindRequest = 0x60;
const unbind = 0x42;
const searchRequest = 0x63;

/** An element of BER: its tag and where its content stands; beyond the end if it has not come whole. */
function part(bytes: Buffer, at: number): { tag: number; from: number; to: number } {
  const first = bytes[at + 1] ?? 0;
  const sizes = first < 128 ? 0 : first & 127;
  if (bytes.length < at + 2 + sizes) return { tag: 0, from: 0, to: Number.POSITIVE_INFINITY };
  const length = sizes === 0 ? first : bytes.readUIntBE(at + 2, sizes);
  return { tag: bytes[at] ?? 0, from: at + 2 + sizes, to: at + 2 + sizes + length };
}

function element(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const text = (value: string | Buffer) => element(4, Buffer.from(value as string));
const result = (tag: number, code: number, why: string) =>
  element(tag, element(10, Buffer.from([code])), text(""), text(why));
const entryElement = ({ dn, attributes }: FakeEntry) =>
  element(
    0x64,
    text(dn),
    element(
      0x30,
      ...Object.entries(attributes).map(([name, values]) =>
        element(0x30, text(name), element(0x31, ...values.map(text))),
      ),
    ),
  );
