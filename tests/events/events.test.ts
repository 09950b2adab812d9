import { createHmac } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sealAudit } from "../../app/db/audit/seal.server.ts";
import type { SecurityEvent } from "../../app/events/security-event.server.ts";
import { messageOf } from "../../app/events/syslog.server.ts";
import { tellingEvents } from "../../app/events/telling.server.ts";
import { type EventsDestination, readEventsUrl } from "../../app/process/events-url.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

// The grammar of RFC 5424, 6, as far as it is used: header, one element of structured data, text.
const rfc5424 =
  /^<(\d{1,3})>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) ([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) \[([^\s=\]"]{1,32})((?: [!-~]+="(?:[^"\\\]]|\\["\\\]])*")*)\] (.*)$/s;

/** Messages with their lengths before them (RFC 6587, 3.4.1). */
function framesOf(bytes: Buffer): string[] {
  const frames: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, space).toString());
    frames.push(bytes.subarray(space + 1, space + 1 + length).toString());
    at = space + 1 + length;
  }
  return frames;
}

it("writes an event as an escaped RFC 5424 message", () => {
  const event: SecurityEvent = {
    ...{ id: "1", at: "2026-11-26T10:00:00.000Z", action: "signin-failed", resource: "user", resourceId: null },
    ...{ actorId: null, actor: 'ana"]\\@ejemplo.es', ip: "2001:db8::1" },
  };
  const [, priority, at, , program, , kind, element, parameters, said] = rfc5424.exec(messageOf(event)) ?? [];
  expect([priority, at, program, kind, element, said]).toEqual([
    ...["108", "2026-11-26T10:00:00.000Z", "tertulia", "signin-failed", "audit@32473", "signin-failed user"],
  ]);
  expect(parameters).toContain('actor="ana\\"\\]\\\\@ejemplo.es"');
  expect(parameters).toContain('ip="2001:db8::1"');
  expect(messageOf({ ...event, action: "signin" })).toMatch(/^<110>1 /);
});

it.each([
  ["syslog+tls://siem.ejemplo.es", { kind: "syslog", transport: "tls", host: "siem.ejemplo.es", port: 6514 }],
  ["syslog+udp://[2001:db8::1]:1514", { kind: "syslog", transport: "udp", host: "2001:db8::1", port: 1514 }],
  ["https://siem.ejemplo.es/e?a=1", { kind: "webhook", url: "https://siem.ejemplo.es/e?a=1" }],
])("%s is a destination", (said, read) => expect(readEventsUrl(said)).toMatchObject(read));

it.each(["siem.ejemplo.es", "syslog://x", "syslog+tcp://", "syslog+tcp://x:0", "syslog+tcp://u:c@x", "https://u:c@x"])(
  "%s is none, and says so in a sentence",
  (said) => expect(readEventsUrl(said)).toMatch(/^EVENTS_URL/),
);

for (const engine of await queryEngines()) {
  describe(`events on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    let kept = "{}";
    beforeAll(async () => {
      api = await openApi(engine);
      ana = await api.signUp("Ana");
    });
    afterAll(() => api.close());

    const tell = async (to: EventsDestination) => {
      const { db, engine: kind, auditKey } = api.services;
      await sealAudit(db, kind, auditKey);
      const signal = new AbortController().signal;
      const remember = async (data: string) => {
        kept = data;
      };
      const job = { id: "", userId: null, subjectId: null, data: kept, attempts: 1, progress: async () => {}, signal };
      await tellingEvents(db, to).work({ ...job, remember });
    };
    const fail = () => api.call("POST", "/auth/signin", { json: { email: ana.email, password: "no es esta" } });

    it("reach a syslog collector over TCP exactly once", async () => {
      const received: Buffer[] = [];
      const collector = createServer((socket) => socket.on("data", (data: Buffer) => received.push(data)));
      collector.listen(0, "127.0.0.1");
      await once(collector, "listening");
      const { port } = collector.address() as AddressInfo;
      const to = { kind: "syslog", transport: "tcp", host: "127.0.0.1", port } as const;
      await tell(to);
      expect(received).toEqual([]);
      for (let n = 0; n < 3; n++) await fail();
      await tell(to);
      await tell(to);
      const frames = framesOf(Buffer.concat(received));
      expect(frames.map((frame) => rfc5424.exec(frame)?.[6])).toEqual(Array(3).fill("signin-failed"));
      expect(frames[0]).toContain(`resourceId="${ana.id}"`);
      expect(frames.join()).not.toContain("no es esta");
      collector.close();
    });

    it("go over UDP, one a datagram", async () => {
      const collector = createSocket("udp4").bind(0, "127.0.0.1");
      await once(collector, "listening");
      const arrived = once(collector, "message") as Promise<[Buffer]>;
      await fail();
      await tell({ kind: "syslog", transport: "udp", host: "127.0.0.1", port: collector.address().port });
      expect(rfc5424.exec((await arrived)[0].toString())?.[6]).toBe("signin-failed");
      collector.close();
    });

    it("wait for an unreachable or failing collector and arrive later", async () => {
      await fail();
      const away = { kind: "syslog", transport: "tcp", host: "127.0.0.1", port: 9 } as const;
      await expect(tell(away)).rejects.toThrow();
      let status = 500;
      const bodies: { events: SecurityEvent[] }[] = [];
      let signed: boolean | undefined;
      const collector = createHttpServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (data: Buffer) => chunks.push(data));
        request.on("end", () => {
          const body = Buffer.concat(chunks).toString();
          const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request.headers;
          const mac = createHmac("sha256", "un secreto largo").update(`${id}.${at}.${body}`).digest("base64");
          signed = signature === `v1,${mac}`;
          if (status === 200) bodies.push(JSON.parse(body));
          response.writeHead(status).end();
        });
      });
      collector.listen(0, "127.0.0.1");
      await once(collector, "listening");
      const { port } = collector.address() as AddressInfo;
      const to = { kind: "webhook", url: `http://127.0.0.1:${port}/`, secret: "un secreto largo" } as const;
      await expect(tell(to)).rejects.toThrow("EVENTS_URL contesta 500");
      status = 200;
      await tell(to);
      expect(signed).toBe(true);
      expect(bodies.flatMap(({ events }) => events)).toEqual([
        expect.objectContaining({ action: "signin-failed", resource: "user", resourceId: ana.id, ip: "127.0.0.1" }),
      ]);
      collector.close();
    });
  });
}
