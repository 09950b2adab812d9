import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { inOwnNetwork, mayUnshare } from "../support/public-address.ts";

type Sent = { path: string; status: number; headers: Record<string, string>; notice: object; signed: object };
type Printed = {
  chat: string;
  label: string;
  unoffered: boolean;
  sent: Sent[];
  refused: number;
  afterRefusal: string;
  before: string;
  after: string;
  log: string;
  ended: string;
};

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

// Only where a network of one's own may be made: notices go to public addresses alone.
it.runIf(mayUnshare && hasOpenssl)("notifies each subscribed device about a finished reply", () => {
  const { chat, label, unoffered, sent, refused, afterRefusal, before, after, log, ended } =
    inOwnNetwork<Printed>("push-service.ts");
  expect(label.trim()).toBe("Avísame cuando esté");
  expect(
    sent
      .slice(0, 2)
      .map(({ path, status }) => [path, status])
      .sort(),
  ).toEqual([
    ["/busy", 201],
    ["/gone", 410],
  ]);
  const [told, ofTemporary, last] = sent.filter(({ path }) => path === "/busy");
  expect(told?.notice).toMatchObject({
    title: expect.stringMatching(/^«.+»: la respuesta ya está$/),
    body: expect.stringMatching(/^La respuesta que esperabas ya está\. .*inteligencia artificial/),
    path: chat,
  });
  expect(told?.signed).toMatchObject({
    aud: "https://93.184.215.14",
    sub: expect.stringMatching(/^https:\/\/tertulia\.example:\d+$/),
  });
  expect(told?.headers).toMatchObject({ ttl: "86400", "content-encoding": "aes128gcm" });
  // Only its own browser is told of what is temporary, and not even that in its words.
  expect(unoffered).toBe(true);
  expect(ofTemporary?.notice).toMatchObject({ title: "«Conversación temporal»: la respuesta ya está" });
  expect(last?.notice).toMatchObject({ title: expect.stringContaining("la respuesta ya está") });
  // A service that gives no answer is not waited for; the others are told all the same.
  expect(log).toContain("los avisos no llegan a su servicio (NoAnswer)");
  // An address of this house is none.
  expect(refused).toBe(303);
  expect(afterRefusal).toContain("El navegador ha dado una dirección de avisos que no sirve.");
  expect(before).toContain("En este dispositivo se avisa");
  expect(before).toContain("Se avisa en otro dispositivo.");
  // Its service has said that there is no such device.
  expect(after).not.toContain("otro dispositivo");
  expect(after).toContain("En este dispositivo se avisa");
  expect(ended).toContain("En este dispositivo no se avisa más.");
});
