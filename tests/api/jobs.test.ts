import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { SharedClock } from "../../app/db/processes/clock.server.ts";
import { Processes } from "../../app/db/processes/processes.server.ts";
import { Files } from "../../app/files/files.server.ts";
import { JobFailed, type JobRules, Jobs } from "../../app/jobs/jobs.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines, sqlite } from "../support/engines.ts";
import { startMailServer } from "../support/mail-server.ts";

type Shown = { items: { id: string; kind: string; state: string; problem: string | null; attempts: number }[] };

const engines = await queryEngines();
describe.each(engines)("work in the background on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let ana: Account;
  let berta: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp("Ana");
    berta = await api.signUp("Berta");
  });
  afterAll(() => api.close());

  /** A job of another process; nobody else here sends e-mails, so that kind is free for any work. */
  async function another(work: JobRules["work"], rules: Partial<JobRules> = {}, clock = api.services.clock) {
    const processes = new Processes(api.services);
    await processes.join(() => ({ replies: 0, memory: 0, delay: 0 }));
    const jobs = new Jobs({ ...api.services, processes, clock });
    jobs.handle("email", { atOnce: 1, retries: [], work, ...rules });
    await jobs.start();
    return { jobs, processes };
  }
  const listed = async (account: Account, filter: object) =>
    (
      (await api.call("GET", `/api/job?filter=${encodeURIComponent(JSON.stringify(filter))}`, { token: account.token }))
        .body as Shown
    ).items;

  it("retries failures and runs failed jobs again on request", async () => {
    let broken = true;
    let tried = 0;
    const { jobs } = await another(
      async () => {
        tried++;
        if (broken) throw new Error("the network is away");
        return { well: true };
      },
      { retries: [0] },
    );
    const id = await jobs.add({ kind: "email", userId: ana.id });
    jobs.wake("email");
    expect(await jobs.ended(id, 10_000)).toMatchObject({ state: "failed", attempts: 2 });
    expect(tried).toBe(2);
    const [seen] = await listed(admin, { state: "failed" });
    expect(seen).toMatchObject({ id, problem: "ha fallado varias veces; el registro del servidor dice por qué." });
    broken = false;
    expect((await api.call("POST", "/api/job/again", { token: admin.token })).body).toEqual({ again: 1 });
    // The process that was asked may have no rules for this kind: another one sees it within seconds.
    jobs.wake("email");
    expect(await jobs.ended(id, 10_000)).toMatchObject({ state: "done", result: '{"well":true}', problem: null });
    await jobs.close();
  });

  it("never gives up a repeating job, even after restart", async () => {
    let tried = 0;
    const fails = async () => {
      tried++;
      throw new Error("the place of copies is away");
    };
    const { jobs } = await another(fails, { every: 1 });
    await vi.waitFor(() => {
      jobs.wake("email");
      expect(tried).toBeGreaterThan(6);
    }, 20_000);
    await jobs.close();
    await api.db.updateTable("jobs").set({ state: "failed", attempts: 9 }).where("key", "=", "email").execute();
    tried = 0;
    const { jobs: next } = await another(fails, { every: 1 });
    await vi.waitFor(() => expect(tried).toBeGreaterThan(0), 20_000);
    await next.close();
    await api.db.deleteFrom("jobs").where("key", "=", "email").execute();
  });

  it("repeats a job soon after a clock that was ahead is put right", async () => {
    class Clock extends SharedClock {
      fast = 3_600_000;
      override now() {
        return super.now() + this.fast;
      }
    }
    const clock = new Clock();
    let ran = 0;
    const counts = async () => {
      ran++;
    };
    const { jobs } = await another(counts, { every: 60_000 }, clock);
    await vi.waitFor(() => expect(ran).toBe(1), 20_000);
    clock.fast = 0;
    await vi.waitFor(() => expect(ran).toBe(2), 20_000);
    await jobs.close();
    await api.db.deleteFrom("jobs").where("key", "=", "email").execute();
  });

  it("does not retry hopeless jobs, and hides jobs from others", async () => {
    const { jobs } = await another(
      async () => {
        throw new JobFailed("no se puede.");
      },
      { retries: [0, 0] },
    );
    const id = await jobs.add({ kind: "email", userId: ana.id });
    jobs.wake("email");
    expect(await jobs.ended(id, 10_000)).toMatchObject({ state: "failed", attempts: 1, problem: "no se puede." });
    expect((await listed(ana, {})).map((job) => job.id)).toContain(id);
    expect(await listed(berta, {})).toEqual([]);
    expect((await api.call("GET", `/api/job/${id}`, { token: berta.token })).status).toBe(404);
    await jobs.close();
  });

  it("nobody waits for a hundred jobs of somebody else", async () => {
    const order: (string | null)[] = [];
    const { jobs } = await another(async ({ userId }) => void order.push(userId));
    for (let count = 0; count < 10; count++) await jobs.add({ kind: "email", userId: ana.id });
    const last = await jobs.add({ kind: "email", userId: berta.id });
    jobs.wake("email");
    await jobs.ended(last, 10_000);
    expect(order.indexOf(berta.id)).toBeLessThan(3);
    await vi.waitFor(() => expect(order).toHaveLength(11), { timeout: 60_000 });
    await jobs.close();
  });

  it("hands jobs of a closed process to the next", async () => {
    const begun = Promise.withResolvers<void>();
    const late = Promise.withResolvers<string>();
    const first = await another(async () => {
      begun.resolve();
      return late.promise;
    });
    const id = await first.jobs.add({ kind: "email", userId: ana.id });
    first.jobs.wake("email");
    await begun.promise;
    await first.jobs.close();
    await first.processes.leave();
    const { jobs } = await another(async () => "the second");
    expect(await jobs.ended(id, 10_000)).toMatchObject({ state: "done", result: '"the second"', attempts: 1 });
    late.resolve("the first");
    await setTimeout(50);
    expect(await jobs.ended(id, 0)).toMatchObject({ result: '"the second"' });
    await jobs.close();
  });

  if (engine.name === "postgres")
    it("what a dead process was doing another one begins again", async () => {
      const begun = Promise.withResolvers<void>();
      const first = await another(async () => {
        begun.resolve();
        return new Promise(() => {});
      });
      const id = await first.jobs.add({ kind: "email", userId: ana.id });
      first.jobs.wake("email");
      await begun.promise;
      // The others' step once it has given no sign of life for fifteen seconds.
      await first.processes.leave();
      const { jobs } = await another(async () => "the second");
      expect(await jobs.ended(id, 10_000)).toMatchObject({ state: "done", result: '"the second"', attempts: 2 });
      await jobs.close();
    });

  if (engine.name === "postgres")
    it("of two processes one does each job", async () => {
      const done: string[] = [];
      const work: JobRules["work"] = async ({ id }) => void done.push(id);
      const [one, two] = [await another(work, { atOnce: 5 }), await another(work, { atOnce: 5 })];
      const ids: string[] = [];
      for (let count = 0; count < 40; count++) ids.push(await one.jobs.add({ kind: "email" }));
      for (const { jobs } of [one, two]) jobs.wake("email");
      await vi.waitFor(() => expect([...done].sort()).toEqual([...ids].sort()), { timeout: 20_000 });
      await Promise.all([one.jobs.close(), two.jobs.close()]);
    });

  it("refuses a message while its document is still being read", async () => {
    const slow = await openApi(engine);
    const person = await slow.signUp("Lenta");
    // As if all that read were busy.
    await slow.services.jobs.close();
    const sent = await slow.upload(person.token, [new File(["Un texto cualquiera"], "largo.txt")]);
    const [file] = (sent.body as { items: { id: string; state: string; hasText: boolean }[] }).items;
    expect(file).toMatchObject({ state: "reading", hasText: false });
    const json = { content: "¿Qué dice?", fileIds: [file?.id] };
    const refused = await slow.call("POST", "/api/intelligence/conversation", { token: person.token, json });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining("«largo.txt» todavía se está leyendo"),
    ]);
    // As a restored copy is, which has no jobs.
    await slow.db.deleteFrom("jobs").execute();
    const jobs = new Jobs(slow.services);
    const files = new Files({ db: slow.db, engine: slow.services.engine, storage: slow.services.storage, jobs });
    await jobs.start();
    await files.resume();
    const row = await slow.db.selectFrom("files").selectAll().executeTakeFirstOrThrow();
    expect(await files.settled([row], 10_000)).toMatchObject([{ ready: 1, text: "Un texto cualquiera" }]);
    await jobs.close();
    await slow.close();
  });
});

describe("an e-mail", () => {
  it("waits encrypted for an unavailable mail server, then is sent", async () => {
    const first = await startMailServer();
    await first.stop();
    const mail = { smtpUrl: first.url, mailTo: "casa@ejemplo.es", mailFrom: undefined };
    const api = await openApi(sqlite, { mail });
    const ana = await api.signUp("Ana");
    await api.call("POST", "/auth/reset", { json: { email: ana.email } });
    const job = await vi.waitFor(
      async () => {
        const row = await api.db.selectFrom("jobs").where("kind", "=", "email").selectAll().executeTakeFirstOrThrow();
        expect(row).toMatchObject({ state: "waiting", attempts: 1, problem: "ha fallado; se intentará otra vez." });
        return row;
      },
      { timeout: 20_000 },
    );
    expect(job.data).not.toContain(ana.email);
    expect(job.goodUntil).toBeGreaterThan(Date.now());
    const second = await startMailServer(first.port);
    await api.db.updateTable("jobs").set({ dueAt: 0 }).where("id", "=", job.id).execute();
    api.services.jobs.wake("email");
    expect(await second.nextTo(ana.email)).toContain("/auth/reset/");
    await api.close();
    await second.stop();
  });

  it("is tried again where the mail server refuses the house's own key", async () => {
    const server = await startMailServer();
    const smtpUrl = server.url.replace("smtp://", "smtp://casa:mala@");
    const api = await openApi(sqlite, { mail: { smtpUrl, mailTo: "casa@ejemplo.es", mailFrom: undefined } });
    const ana = await api.signUp("Ana");
    await api.call("POST", "/auth/reset", { json: { email: ana.email } });
    await vi.waitFor(
      async () => {
        const row = await api.db.selectFrom("jobs").where("kind", "=", "email").selectAll().executeTakeFirstOrThrow();
        expect([row.state, row.problem]).toEqual([
          "waiting",
          "el servidor de correo no acepta el usuario o la clave de SMTP_URL (535). Se intentará otra vez.",
        ]);
      },
      { timeout: 20_000 },
    );
    await api.close();
    await server.stop();
  });

  it.each<[{ from?: number; to?: number }, string]>([
    [{ from: 530 }, "waiting"],
    [{ to: 550 }, "failed"],
  ])("is given up for its receiver alone (%j)", async (refused, state) => {
    const server = await startMailServer(0, refused);
    const api = await openApi(sqlite, {
      mail: { smtpUrl: server.url, mailTo: "casa@ejemplo.es", mailFrom: undefined },
    });
    const ana = await api.signUp("Ana");
    await api.call("POST", "/auth/reset", { json: { email: ana.email } });
    await vi.waitFor(
      async () => {
        const row = await api.db.selectFrom("jobs").where("kind", "=", "email").selectAll().executeTakeFirstOrThrow();
        expect([row.attempts, row.state]).toEqual([1, state]);
        expect(row.problem).toContain(String(refused.from ?? refused.to));
      },
      { timeout: 20_000 },
    );
    await api.close();
    await server.stop();
  });
});
