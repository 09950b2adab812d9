import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askDue } from "../../app/api/schedules/ask-due.server.ts";
import { nextTime } from "../../app/api/schedules/next-time.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

const hour = 60 * 60_000;
const monday = { days: [1], monthDay: null, time: "08:00", zone: "Europe/Madrid" };
type Shown = { id: string; nextAt: string; askedAt: string | null; chatId: string | null; problem: string | null };

describe("when a question is due next", () => {
  const next = (when: object, after: string) =>
    new Date(nextTime({ ...monday, ...when }, Date.parse(after))).toISOString();

  it("repeats each Monday at eight local time across daylight saving", () => {
    expect(next({}, "2026-07-07T00:00:00Z")).toBe("2026-07-13T06:00:00.000Z");
    expect(next({}, "2026-11-24T00:00:00Z")).toBe("2026-11-30T07:00:00.000Z");
    expect(next({ zone: "America/Bogota" }, "2026-11-24T00:00:00Z")).toBe("2026-11-30T13:00:00.000Z");
  });

  it("is later the same day, never at the moment asked", () => {
    expect(next({}, "2026-11-30T06:59:00Z")).toBe("2026-11-30T07:00:00.000Z");
    expect(next({}, "2026-11-30T07:00:00Z")).toBe("2026-12-07T07:00:00.000Z");
  });

  it("is on a day of the month, or the last", () => {
    const month = { days: [], zone: "UTC" };
    expect(next({ ...month, monthDay: 15 }, "2026-11-24T00:00:00Z")).toBe("2026-12-15T08:00:00.000Z");
    expect(next({ ...month, monthDay: 31 }, "2027-02-03T00:00:00Z")).toBe("2027-02-28T08:00:00.000Z");
  });

  it("runs once on days when the clocks change", () => {
    const night = { days: [7], time: "02:30" };
    expect(next(night, "2027-03-27T12:00:00Z")).toBe("2027-03-28T01:00:00.000Z");
    const first = next(night, "2026-10-24T12:00:00Z");
    expect(Date.parse(next(night, first)) - Date.parse(first)).toBeGreaterThan(24 * hour);
  });
});

for (const engine of await queryEngines()) {
  describe(`scheduled questions on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
    });
    afterAll(() => api.close());

    const given = { content: "¿Qué hay hoy en la huerta?", ...monday };
    const call = (method: string, path: string, json?: object, { token } = ana) =>
      api.call(method, `/api/schedule${path}`, { token, ...(json && { json }) });
    const make = async (json: object = given, account = ana) => {
      const answer = await call("POST", "", json, account);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body as Shown;
    };
    const shown = async ({ id }: Shown, account = ana) =>
      (await call("GET", `/${id}`, undefined, account)).body as Shown;
    /** As if its time had come `ago` ms ago. */
    const makeDue = async ({ id }: Shown, ago = 1_000) => {
      const nextAt = api.services.clock.now() - ago;
      await api.db.updateTable("schedules").set({ nextAt }).where("id", "=", id).execute();
      return nextAt;
    };
    const run = () => askDue(api.services, new AbortController().signal);

    it("is asked once when due, each time in another chat", async () => {
      const schedule = await make();
      await run();
      expect((await shown(schedule)).chatId).toBeNull();
      const due = await makeDue(schedule);
      await run();
      const first = await shown(schedule);
      expect(first.problem).toBeNull();
      expect(Date.parse(first.nextAt)).toBeGreaterThan(api.services.clock.now());
      const messages = (await api.call("GET", `/api/chat/${first.chatId}/messages`, { token: ana.token })).body as {
        items: { role: string; content: string }[];
      };
      expect(messages.items.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect(messages.items[0]?.content).toBe(given.content);
      // The process has died after it had asked and before it had noted that.
      await api.db.updateTable("schedules").set({ nextAt: due }).where("id", "=", schedule.id).execute();
      await run();
      expect((await shown(schedule)).chatId).toBe(first.chatId);
      await makeDue(schedule, 500);
      await run();
      expect((await shown(schedule)).chatId).not.toBe(first.chatId);
      await call("DELETE", `/${schedule.id}`);
    });

    it("leaves the draft of a new conversation alone", async () => {
      const draft = { content: "A medias", modelId: null, fileIds: [] };
      await api.call("PATCH", `/api/user/${ana.id}`, { token: ana.token, json: { draft } });
      const schedule = await make();
      await makeDue(schedule);
      await run();
      const { user } = (await api.call("GET", "/auth/session", { token: ana.token })).body as {
        user: { draft: { content: string } };
      };
      expect(user.draft.content).toBe("A medias");
      await call("DELETE", `/${schedule.id}`);
    });

    it("reports why asking failed and continues the next time", async () => {
      const berta = await api.signUp("Berta");
      const schedule = await make(given, berta);
      const plan = { userId: berta.id, plan: "gratis", startsAt: new Date().toISOString(), messagesPerDay: 0 };
      const made = await api.call("POST", "/api/subscription", { token: admin.token, json: plan });
      expect(made.status, made.text).toBe(201);
      await makeDue(schedule);
      await run();
      const refused = await shown(schedule, berta);
      expect(refused.problem).toContain("Has usado");
      expect(Date.parse(refused.nextAt)).toBeGreaterThan(api.services.clock.now());
      const chats = (await api.call("GET", "/api/chat", { token: berta.token })).body as { total: number };
      expect(chats.total).toBe(0);
      const { id } = made.body as { id: string };
      await api.call("DELETE", `/api/subscription/${id}`, { token: admin.token });
      await makeDue(schedule);
      await run();
      expect((await shown(schedule, berta)).problem).toBeNull();
    });

    it("is skipped for deactivated people, long delays and paused schedules", async () => {
      const carla = await api.signUp("Carla");
      const [inactive, late, resting] = [
        await make(given, carla),
        await make(),
        await make({ ...given, enabled: false }),
      ];
      await api.call("PATCH", `/api/user/${carla.id}`, { token: admin.token, json: { status: "inactive" } });
      await makeDue(inactive);
      await makeDue(late, 13 * hour);
      await makeDue(resting);
      await run();
      const rows = await api.db.selectFrom("schedules").select(["id", "problem", "chatId"]).execute();
      const row = ({ id }: Shown) => rows.find((one) => one.id === id);
      expect(row(inactive)).toMatchObject({ problem: expect.stringContaining("inactiva"), chatId: null });
      expect(row(late)).toMatchObject({ problem: "A esa hora el servidor estaba apagado.", chatId: null });
      expect(row(resting)).toMatchObject({ problem: null, chatId: null });
      for (const { id } of [late, resting]) await call("DELETE", `/${id}`);
    });

    it.each([
      [{ days: [] }, "days", "Elige algún día de la semana, o un día del mes."],
      [{ monthDay: 3 }, "monthDay", "no las dos cosas"],
      [{ days: [], monthDay: 29 }, "monthDay", "del 1 al 28"],
      [{ time: "25:00" }, "time", "de 00:00 a 23:59"],
      [{ zone: "Europe/Nada" }, "zone", "Esa zona horaria no existe."],
      [{ content: " " }, "content", "Escribe"],
      [{ modelId: "otro" }, "modelId", "ya no está disponible"],
    ])("%o is refused with its reason", async (wrong, field, sentence) => {
      const answer = await call("POST", "", { ...given, ...wrong });
      expect(answer.status).toBe(422);
      expect((answer.body as { errors: Record<string, string> }).errors[field]).toContain(sentence);
    });

    it("at most twenty of one person", async () => {
      const dora = await api.signUp("Dora");
      for (let n = 0; n < 20; n++) await make(given, dora);
      const answer = await call("POST", "", given, dora);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("Puedes tener 20")]);
    });

    it("somebody else's is not there, for admins neither", async () => {
      const schedule = await make();
      for (const method of ["GET", "PUT", "DELETE"]) {
        expect((await call(method, `/${schedule.id}`, method === "PUT" ? given : undefined, admin)).status).toBe(404);
      }
    });
  });
}
