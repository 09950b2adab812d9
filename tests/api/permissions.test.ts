import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

const roles = ["anonymous", "other", "owner", "inactive", "admin"] as const;
const verbs = ["list", "read", "create", "change", "delete"] as const;
type Role = (typeof roles)[number];

/**
 * The expected statuses by resource and role. `inactive` is an owner whose account is inactive. Items that a person may not
 * see answer 404; a negative status means that the list answers with that status but leaves the item out.
 */
const table: Record<string, Record<Role, [list: number, read: number, create: number, change: number, del: number]>> = {
  user: {
    anonymous: [401, 401, 401, 401, 401],
    other: [404, 404, 404, 404, 404],
    owner: [404, 200, 404, 200, 204],
    inactive: [404, 200, 404, 200, 204],
    admin: [200, 200, 201, 200, 204],
  },
  chat: {
    anonymous: [401, 401, 401, 401, 401],
    other: [-200, 404, 201, 404, 404],
    owner: [200, 200, 201, 200, 204],
    inactive: [403, 403, 403, 403, 403],
    admin: [200, 200, 201, 200, 204],
  },
  message: {
    anonymous: [401, 401, 401, 401, 401],
    other: [-200, 404, 404, 404, 404],
    owner: [200, 200, 201, 200, 204],
    inactive: [403, 403, 403, 403, 403],
    // An admin speaks for nobody, and reads what is another's once they have said what for (inspections.test.ts).
    admin: [200, 403, 404, 403, 204],
  },
  project: {
    anonymous: [401, 401, 401, 401, 401],
    other: [-200, 404, 201, 404, 404],
    owner: [200, 200, 201, 200, 204],
    inactive: [403, 403, 403, 403, 403],
    admin: [200, 403, 201, 403, 204],
  },
  summary: {
    anonymous: [401, 401, 401, 401, 401],
    other: [-200, 404, 404, 404, 404],
    owner: [200, 200, 404, 404, 404],
    inactive: [403, 403, 404, 404, 404],
    admin: [200, 403, 403, 403, 204],
  },
  subscription: {
    anonymous: [401, 401, 401, 401, 401],
    other: [-200, 404, 404, 404, 404],
    owner: [200, 200, 404, 404, 404],
    inactive: [403, 403, 404, 404, 404],
    admin: [200, 200, 201, 200, 204],
  },
  training: {
    anonymous: [401, 401, 401, 401, 401],
    other: [404, 404, 404, 404, 404],
    owner: [404, 404, 404, 404, 404],
    inactive: [403, 403, 404, 404, 404],
    admin: [200, 200, 201, 200, 204],
  },
  // Rows of `model`, `page` and others that only administrators may see: a model that is off, a page that is not published, a list without groups.
  model: {
    anonymous: [401, 401, 401, 401, 401],
    other: [-200, 404, 404, 404, 404],
    owner: [-200, 404, 404, 404, 404],
    inactive: [403, 403, 404, 404, 404],
    admin: [200, 200, 201, 200, 204],
  },
  page: {
    anonymous: [-200, 404, 401, 401, 401],
    other: [-200, 404, 404, 404, 404],
    owner: [-200, 404, 404, 404, 404],
    inactive: [-200, 404, 404, 404, 404],
    admin: [200, 200, 201, 200, 204],
  },
};

for (const engine of await ruleEngines()) {
  describe(`permissions on ${engine.name}`, () => {
    let api: Api;
    let people: Record<Exclude<Role, "anonymous">, Account>;
    beforeAll(async () => {
      api = await openApi(engine);
      const admin = await api.signUp("Admin");
      people = {
        admin,
        owner: await api.signUp("Ana"),
        other: await api.signUp("Otra"),
        inactive: await api.signUp("Inactiva"),
      };
    });
    afterAll(() => api.close());

    /** Somebody's item of a resource, and bodies to make and to change one. */
    async function makeFor(resource: string, owner: Account) {
      const as = async (account: Account, path: string, json: object) =>
        (await api.call("POST", path, { token: account.token, json })).body as { id: string };
      const start = async () => {
        const [first] = await api.converse(owner.token, { content: "Hola" });
        if (first?.type !== "start") throw new Error("no start");
        return first;
      };
      const { admin } = people;
      const email = `${crypto.randomUUID()}@ejemplo.es`;
      const slug = `pagina-${crypto.randomUUID()}`;
      const since = "2026-01-01T00:00:00.000Z";
      switch (resource) {
        case "user":
          return {
            id: owner.id,
            create: { name: "Nueva", email, password },
            change: { name: "Otro nombre" },
            remove: { currentPassword: password },
          };
        case "chat":
          return { id: (await start()).chatId, create: { title: "Nueva" }, change: { title: "Otra" } };
        case "message": {
          const { chatId, userMessageId } = await start();
          return { id: userMessageId, create: { chatId, content: "Hola" }, change: { content: "Adiós" } };
        }
        case "project": {
          const body = { name: "Tesis" };
          return { id: (await as(owner, "/api/project", body)).id, create: body, change: body };
        }
        case "summary": {
          const { chatId, messageId } = await start();
          const body = { chatId, upToMessageId: messageId, content: "Se saludaron." };
          const [now, id] = [Date.now(), crypto.randomUUID()];
          const row = { id, createdAt: now, updatedAt: now, ...body, modelId: null, tokens: 4 };
          await api.db.insertInto("summaries").values(row).execute();
          return { id, create: body, change: body };
        }
        case "subscription": {
          const body = { userId: owner.id, plan: "pro", startsAt: since };
          return { id: (await as(admin, "/api/subscription", body)).id, create: body, change: body };
        }
        case "training": {
          const body = { title: "Tono", kind: "instruction", content: "Sé breve." };
          return { id: (await as(admin, "/api/training", body)).id, create: body, change: { content: "Más breve." } };
        }
        case "model": {
          const body = { name: "M", provider: "ollama", externalId: "m", enabled: false };
          return { id: (await as(admin, "/api/model", body)).id, create: body, change: body };
        }
        case "page": {
          const body = { slug, title: "Página" };
          const create = { slug: `${slug}-2`, title: "Otra" };
          return { id: (await as(admin, "/api/page", body)).id, create, change: body };
        }
        default:
          throw new Error(`Say in makeFor how to make a «${resource}»`);
      }
    }

    const patched = ["chat", "message", "training", "user"];
    for (const [resource, expected] of Object.entries(table)) {
      it.each(roles)(`${resource}: %s`, async (role) => {
        // Whoever is inactive or deletes the account is somebody new each time.
        const owner = role === "owner" || role === "inactive" ? await api.signUp("Ana") : people.owner;
        const victim = resource === "user" && role === "admin" ? await api.signUp("Ana") : owner;
        const { id, create, change, remove } = await makeFor(resource, victim);
        if (role === "inactive")
          await api.db.updateTable("users").set({ status: "inactive" }).where("id", "=", owner.id).execute();
        const asked = { owner, inactive: owner, other: people.other, admin: people.admin, anonymous: undefined }[role];
        const token = asked?.token ?? "";
        const call = (method: string, path: string, json?: object) => api.call(method, path, { token, json });
        const list = await call("GET", `/api/${resource}?limit=100`);
        const got = [
          list.status === 200 && !list.text.includes(String(id)) ? -200 : list.status,
          (await call("GET", `/api/${resource}/${id}`)).status,
          (await call("POST", `/api/${resource}`, create)).status,
          (await call(patched.includes(resource) ? "PATCH" : "PUT", `/api/${resource}/${id}`, change)).status,
          (await call("DELETE", `/api/${resource}/${id}`, role === "admin" ? undefined : remove)).status,
        ];
        expect(Object.fromEntries(verbs.map((verb, at) => [verb, got[at]]))).toEqual(
          Object.fromEntries(verbs.map((verb, at) => [verb, expected[role as Role][at]])),
        );
      });
    }

    it("answers identically for another person's item and a missing one", async () => {
      for (const resource of Object.keys(table).filter((name) => name !== "page")) {
        const { id } = await makeFor(resource, people.owner);
        const theirs = await api.call("GET", `/api/${resource}/${id}`, { token: people.other.token });
        const nobodys = await api.call("GET", `/api/${resource}/${crypto.randomUUID()}`, { token: people.other.token });
        const shown = ({ status, body }: typeof theirs) => ({ status, ...(body as object), requestId: "" });
        expect(shown(theirs)).toEqual(shown(nobodys));
      }
    });
  });
}
