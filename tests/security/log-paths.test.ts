import { expect, it } from "vitest";
import { pathInLog } from "../../app/process/log.server.ts";

const id = "0199c3a0-7d1e-7a6b-9f00-1234567890ab";
const token = "Zk3v9Q2mXo7rT1yLwB8sUcPe";

it.each([
  [`/compartido/${token}`, "/compartido/…"],
  [`/compartido/${token}/archivo/${id}`, `/compartido/…/archivo/${id}`],
  [`/v1/api/share/${token}`, "/v1/api/share/…"],
  [`/auth/invitacion/${id}.${token}`, "/auth/invitacion/…"],
  [`/canal/${token}`, "/canal/…"],
  [`/conversation/chat/${id}`, `/conversation/chat/${id}`],
  [`/conversation/chat/${id}.data`, `/conversation/chat/${id}.data`],
  ["/politica-de-privacidad-y-cookies", "/politica-de-privacidad-y-cookies"],
  ["/conversation/project/crear", "/conversation/project/crear"],
])("masks tokens and keeps ids: %s", (path, logged) => {
  expect(pathInLog(path)).toBe(logged);
});
