import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines, sqlite } from "../support/engines.ts";
import { password } from "../support/password.ts";

type Body = Record<string, unknown>;
type Operation = { requestBody?: { content: Record<string, { example?: Body }> } };

/**
 * Callers of an operation of the API's document. `public`: anyone. `session`: whoever has signed in, also with an inactive account.
 * `active`: an active account. `owner`: the active owner of that very thing, and admins; to anyone else it is not there. `own`: the same,
 * also with an inactive account. `theirs`: the owner alone, no admin. `admin`: admins. `guest`: guests of a room, and nobody with an account.
 */
const rules: Record<string, "public" | "session" | "active" | "owner" | "own" | "theirs" | "admin" | "guest"> = {
  "delete /api/chat/{id}": "owner",
  "delete /api/chat/{id}/share": "owner",
  "delete /api/file/{id}": "owner",
  "delete /api/key/{id}": "theirs",
  "delete /api/message/{id}": "owner",
  "delete /api/model/{id}": "admin",
  "delete /api/page/{id}": "admin",
  "delete /api/project/{id}": "owner",
  "delete /api/subscription/{id}": "admin",
  "delete /api/summary/{id}": "admin",
  "delete /api/system/backup/{name}": "admin",
  "delete /api/tool/{id}": "admin",
  "delete /api/training/{id}": "admin",
  "delete /api/user/{id}": "own",
  "delete /api/user/{id}/sessions": "admin",
  "delete /auth/authenticator": "session",
  "delete /auth/sessions": "session",
  "delete /auth/sessions/{id}": "session",
  "get /api/audit": "admin",
  "get /api/audit/{id}": "admin",
  "get /api/chat": "active",
  "get /api/chat/{id}": "owner",
  "get /api/chat/{id}/export": "owner",
  "get /api/chat/{id}/messages": "owner",
  "get /api/chat/{id}/share": "owner",
  "get /api/dashboard/initialize": "session",
  "get /api/email": "admin",
  "get /api/email/{id}": "admin",
  "get /api/file": "active",
  "get /api/file/{id}": "owner",
  "get /api/file/{id}/content": "owner",
  "get /api/file/{id}/passages": "owner",
  "get /api/key": "session",
  "get /api/message": "active",
  "get /api/message/{id}": "owner",
  "get /api/message/{id}/prompt": "owner",
  "get /api/model": "active",
  "get /api/model/{id}": "active",
  "delete /api/house/image/{kind}": "admin",
  "get /api/house": "admin",
  "get /api/house/image/{kind}": "public",
  "get /api/house/public": "public",
  "patch /api/house": "admin",
  "put /api/house/image/{kind}": "admin",
  "get /api/page": "public",
  "get /api/page/{id}": "public",
  "get /api/project": "active",
  "get /api/project/{id}": "owner",
  "get /api/search": "active",
  "get /api/share/{token}": "public",
  "get /api/share/{token}/file/{id}": "public",
  "get /api/share/artifact/{token}": "public",
  "get /api/subscription": "active",
  "get /api/subscription/{id}": "owner",
  "get /api/summary": "active",
  "get /api/summary/{id}": "owner",
  "get /api/system": "admin",
  "get /api/system/backup": "admin",
  "get /api/system/backup/{name}": "admin",
  "get /api/tool": "active",
  "get /api/tool/{id}": "active",
  "get /api/training": "admin",
  "get /api/training/{id}": "admin",
  "get /api/usage": "session",
  "get /api/usage/figures": "admin",
  "get /api/user": "admin",
  "get /api/user/{id}": "own",
  "get /api/user/{id}/export": "own",
  "post /api/user/{id}/export": "own",
  "get /api/user/{id}/export/{exportId}": "own",
  "get /api/user/{id}/exports": "own",
  "get /api/user/{id}/use": "admin",
  "get /auth/authenticator": "session",
  "get /auth/options": "public",
  "get /auth/person": "active",
  "get /auth/reset/{token}": "public",
  "get /auth/session": "session",
  "get /auth/sessions": "session",
  "get /models": "active",
  "get /models/{id}": "active",
  "get /ollama/api/ps": "active",
  "get /ollama/api/tags": "active",
  "get /ollama/api/version": "active",
  "patch /api/chat/{id}": "owner",
  "patch /api/message/{id}": "owner",
  "patch /api/training/{id}": "admin",
  "patch /api/user/{id}": "own",
  "post /api/chat": "active",
  "post /api/chat/import": "active",
  "post /api/email/contact": "public",
  "post /api/email/support": "public",
  "post /api/file/uploads": "active",
  "post /api/file/{id}/reading": "owner",
  "post /api/intelligence/conversation": "active",
  "get /api/intelligence/conversation/{messageId}/notify": "theirs",
  "post /api/intelligence/conversation/{messageId}/notify": "theirs",
  "post /api/intelligence/conversation/{messageId}/stop": "owner",
  "post /api/key": "session",
  "post /api/message": "active",
  "post /api/message/{id}/decision": "theirs",
  "post /api/model": "admin",
  "post /api/model/discover": "admin",
  "post /api/model/{id}/test": "admin",
  "post /api/page": "admin",
  "post /api/project": "active",
  "post /api/subscription": "admin",
  "post /api/summary": "admin",
  "post /api/system/backup": "admin",
  "post /api/tool": "admin",
  "post /api/tool/{id}/list": "admin",
  "post /api/tool/{id}/sign-in": "admin",
  "post /api/tool/{id}/sign-in/end": "admin",
  "post /api/training": "admin",
  "post /api/user": "admin",
  "post /auth/authenticator": "session",
  "post /auth/refresh": "public",
  "post /auth/reset": "public",
  "post /auth/signin": "public",
  "post /auth/signin/code": "public",
  "post /auth/signout": "session",
  "post /auth/signup": "public",
  "post /chat/completions": "active",
  "post /audio/speech": "active",
  "post /audio/transcriptions": "active",
  "post /embeddings": "active",
  "post /messages": "active",
  "post /messages/count_tokens": "active",
  "post /ollama/api/chat": "active",
  "post /ollama/api/embed": "active",
  "post /ollama/api/embeddings": "active",
  "post /ollama/api/show": "active",
  "post /responses": "active",
  "get /responses/{id}": "active",
  "get /responses/{id}/input_items": "active",
  "delete /responses/{id}": "active",
  "post /images/generations": "active",
  "put /api/chat/{id}/share": "theirs",
  "put /api/model/{id}": "admin",
  "put /api/page/{id}": "admin",
  "put /api/project/{id}": "owner",
  "put /api/project/{id}/draft": "theirs",
  "put /api/subscription/{id}": "admin",
  "put /api/summary/{id}": "admin",
  "put /api/tool/{id}": "admin",
  "put /auth/authenticator": "session",
  "put /auth/reset/{token}": "public",
  "delete /api/assistant/{id}": "theirs",
  "put /api/assistant/{id}": "theirs",
  "get /api/assistant": "active",
  "get /api/assistant/{id}": "theirs",
  "post /api/assistant": "active",
  "delete /api/skill/{id}": "theirs",
  "put /api/skill/{id}": "theirs",
  "get /api/skill": "active",
  "get /api/skill/{id}": "theirs",
  "post /api/skill": "active",
  "post /api/skill/upload": "active",
  "get /api/skill/{id}/files": "theirs",
  "get /api/skill/{id}/files/{fileId}": "theirs",
  "get /api/room": "active",
  "get /api/room/opening": "active",
  "post /api/room": "active",
  "get /api/room/{id}": "owner",
  "patch /api/room/{id}": "owner",
  "delete /api/room/{id}": "owner",
  "get /api/room/{id}/guests": "theirs",
  "get /api/room/{id}/guests/{guestId}": "theirs",
  "get /api/guest/room/{code}": "public",
  "post /api/guest/room/{code}": "public",
  "get /api/guest/conversation": "guest",
  "post /api/guest/message": "guest",
  "get /api/guest/message/{messageId}": "guest",
  "post /api/guest/message/{messageId}/follow": "guest",
  "post /api/guest/stop": "guest",
  "delete /api/guest": "guest",
  "delete /api/template/{id}": "theirs",
  "put /api/template/{id}": "theirs",
  "get /api/template": "active",
  "get /api/template/{id}": "theirs",
  "post /api/template": "active",
  "delete /api/access/{id}": "admin",
  "get /api/access": "admin",
  "get /api/access/{id}": "admin",
  "post /api/access": "admin",
  "put /api/access/{id}": "admin",
  "post /auth/oidc/backchannel": "public",
  "post /auth/oidc/{id}": "public",
  "post /auth/oidc/{id}/end": "public",
  "post /auth/oidc/{id}/join": "public",
  "post /auth/ldap/{id}": "public",
  "post /auth/link": "public",
  "delete /api/notice/{id}": "admin",
  "get /api/device": "active",
  "post /api/device": "active",
  "delete /api/device": "active",
  "delete /api/device/here": "active",
  "get /api/feed": "active",
  "put /api/feed": "active",
  "delete /api/feed": "active",
  "get /api/feed/{token}": "public",
  "post /api/voice/transcriptions": "active",
  "get /api/message/{id}/speech": "owner",
  "delete /api/voice-model/{id}": "admin",
  "get /api/voice-model": "admin",
  "get /api/voice-model/{id}": "admin",
  "post /api/voice-model": "admin",
  "put /api/voice-model/{id}": "admin",
  "get /api/schedule": "active",
  "get /api/schedule/{id}": "theirs",
  "post /api/schedule": "active",
  "put /api/schedule/{id}": "theirs",
  "delete /api/schedule/{id}": "theirs",
  "get /api/inspection": "session",
  "get /api/inspection/{resource}/{id}": "admin",
  "post /api/inspection": "admin",
  "get /api/notice": "admin",
  "get /api/notice/{id}": "admin",
  "post /api/notice": "admin",
  "put /api/notice/{id}": "admin",
  "post /api/notice/{id}/read": "active",
  "get /auth/invitation/{token}": "public",
  "post /auth/invitation/{token}": "public",
  "delete /api/invitation/{id}": "admin",
  "get /api/invitation": "admin",
  "get /api/invitation/{id}": "admin",
  "get /api/invitation/{id}/link": "admin",
  "post /api/invitation": "admin",
  "put /api/invitation/{id}": "admin",
  "delete /api/group/{id}": "admin",
  "get /api/group": "admin",
  "get /api/group/{id}": "admin",
  "post /api/group": "admin",
  "put /api/group/{id}": "admin",
  "delete /api/member/{id}": "admin",
  "get /api/member": "active",
  "get /api/member/{id}": "owner",
  "post /api/member": "admin",
  "put /api/member/{id}": "admin",
  "get /api/opinion": "admin",
  "get /api/opinion/{id}": "admin",
  "post /api/opinion/{id}/try": "admin",
  "get /api/message/{id}/opinion": "theirs",
  "put /api/message/{id}/opinion": "theirs",
  "delete /api/message/{id}/opinion": "theirs",
  "post /api/audit/check": "admin",
  "delete /api/search-model/{id}": "admin",
  "get /api/search-model": "admin",
  "get /api/search-model/{id}": "admin",
  "post /api/search-model": "admin",
  "put /api/search-model/{id}": "admin",
  "get /api/retention": "active",
  "get /api/retention/{id}": "active",
  "post /api/retention": "admin",
  "put /api/retention/{id}": "admin",
  "delete /api/retention/{id}": "admin",
  "get /api/retention/{id}/due": "admin",
  "get /api/hold": "admin",
  "get /api/hold/{id}": "admin",
  "post /api/hold": "admin",
  "put /api/hold/{id}": "admin",
  "delete /api/hold/{id}": "admin",
  "get /api/terms": "session",
  "post /api/terms": "session",
  "get /api/system/processing": "admin",
  "get /api/chat/shown": "active",
  "get /api/chat/{id}/groups": "owner",
  "put /api/chat/{id}/groups": "theirs",
  "post /api/chat/{id}/copy": "owner",
  "post /api/chat/{id}/queued": "theirs",
  "post /api/chat/{id}/compared": "theirs",
  "get /api/project/{id}/members": "owner",
  "post /api/project/{id}/members": "owner",
  "put /api/project/{id}/owner": "owner",
  "delete /api/project/{id}/members/{userId}": "owner",
  "get /auth/passkey": "session",
  "post /auth/passkey/options": "session",
  "post /auth/passkey": "session",
  "delete /auth/passkey/{id}": "session",
  "post /auth/signin/passkey/options": "public",
  "post /auth/signin/passkey": "public",
  "get /api/usage/costs": "session",
  "get /api/tool-account": "active",
  "post /api/tool-account/{id}": "active",
  "post /api/tool-account/{id}/end": "active",
  "delete /api/tool-account/{id}": "active",
  "get /api/message/{id}/app/{n}": "active",
  "get /api/message/{id}/app/{n}/page": "active",
  "post /api/message/{id}/app/{n}/call": "active",
  "get /api/artifact": "active",
  "post /api/artifact": "active",
  "get /api/artifact/{id}": "active",
  "patch /api/artifact/{id}": "active",
  "delete /api/artifact/{id}": "active",
  "get /api/artifact/{id}/versions": "active",
  "get /api/artifact/{id}/growth": "active",
  "put /api/artifact/{id}/share": "active",
  "delete /api/artifact/{id}/share": "active",
  "get /api/message/{id}/receipt": "active",
  "post /api/receipt/check": "public",
  "get /api/receipt/key": "public",
  "get /api/memory": "active",
  "put /api/memory/choice": "active",
  "post /api/memory": "active",
  "patch /api/memory/{id}": "active",
  "delete /api/memory/{id}": "active",
  "get /api/errand": "active",
  "post /api/errand": "active",
  "get /api/errand/{id}": "active",
  "patch /api/errand/{id}": "active",
  "delete /api/errand/{id}": "active",
  "post /api/errand/{id}/start": "active",
  "post /api/errand/{id}/stop": "active",
  "get /api/batch": "active",
  "post /api/batch": "active",
  "get /api/batch/{id}": "active",
  "post /api/batch/{id}/stop": "active",
  "post /api/batch/{id}/resume": "active",
  "get /api/batch/{id}/result": "active",
  "delete /api/batch/{id}": "active",
  "get /api/webhook": "admin",
  "get /api/webhook/{id}": "admin",
  "post /api/webhook": "admin",
  "put /api/webhook/{id}": "admin",
  "delete /api/webhook/{id}": "admin",
  "get /api/drive": "admin",
  "get /api/drive/{id}": "admin",
  "post /api/drive": "admin",
  "put /api/drive/{id}": "admin",
  "delete /api/drive/{id}": "admin",
  "get /api/drive-account": "active",
  "put /api/drive-account/{id}": "active",
  "get /api/drive-account/{id}/folders": "active",
  "delete /api/drive-account/{id}": "active",
  "get /api/folder": "active",
  "post /api/folder": "active",
  "post /api/folder/{id}/look": "active",
  "delete /api/folder/{id}": "active",
  "post /auth/oauth/register": "public",
  "get /auth/oauth/consent": "active",
  "post /auth/oauth/consent": "active",
  "post /auth/oauth/token": "public",
  "post /auth/oauth/revoke": "public",
  "get /api/job": "active",
  "get /api/job/{id}": "owner",
  "post /api/job/again": "admin",
  "post /api/system/diagnosis": "admin",
  "get /api/system/diagnosis/{id}": "admin",
  "post /api/system/diagnosis/{id}/marks": "admin",
};
/** Operations for a member of its project who only reads there; an owner's others are not there for them. */
const readInProject = [
  "get /api/chat/{id}",
  "get /api/chat/{id}/messages",
  "get /api/file/{id}",
  "get /api/file/{id}/content",
  "get /api/file/{id}/passages",
  "get /api/message/{id}",
  "get /api/project/{id}",
  "get /api/project/{id}/members",
  "post /api/chat/{id}/copy",
];
/** The same, of a member of a group that the chat is shown to. */
const readInGroup = readInProject.filter((name) => /\/(chat|message)\//.test(name));
const having = (...kinds: string[]) => Object.keys(rules).filter((name) => kinds.includes(rules[name] ?? ""));
const withId = (names: string[]) => names.filter((name) => /\{(id|messageId)\}/.test(name));

for (const engine of await queryEngines()) {
  describe(`each operation on ${engine.name}`, () => {
    let api: Api;
    let document: Record<string, Record<string, Operation>>;
    let people: Record<"admin" | "ana" | "berta" | "inactive" | "resting" | "reader" | "fellow", Account>;
    /** Ana's things, by the noun of their path. */
    let own: Record<string, string>;
    beforeAll(async () => {
      api = await openApi(engine);
      document = ((await api.call("GET", "/api/openapi.json")).body as { paths: typeof document }).paths;
      people = {
        admin: await api.signUp("Admin"),
        ana: await api.signUp("Ana"),
        berta: await api.signUp("Berta"),
        inactive: await api.signUp("Inactiva"),
        resting: await api.signUp("Descansa"),
        reader: await api.signUp("Lectora"),
        fellow: await api.signUp("Colega"),
      };
      const set = (id: string, role: "user" | "admin") =>
        api.db.updateTable("users").set({ status: "inactive", role }).where("id", "=", id).execute();
      await set(people.inactive.id, "user");
      await set(people.resting.id, "admin");
      own = await belongings();
    });
    afterAll(() => api.close());

    async function belongings(): Promise<Record<string, string>> {
      const { admin, ana } = people;
      const made = async (path: string, json: object, token = ana.token) =>
        ((await api.call("POST", path, { token, json })).body as { id: string }).id;
      const [start] = await api.converse(ana.token, { content: "Hola" });
      if (start?.type !== "start") throw new Error("no start");
      const { chatId: chat, messageId: message } = start;
      const project = await made("/api/project", { name: "Tesis" });
      const sent = await api.upload(ana.token, [new File(["Hola"], "hola.txt")], { projectId: project });
      await api.call("PATCH", `/api/chat/${chat}`, { token: ana.token, json: { projectId: project } });
      const reader = { email: people.reader.email, role: "reads" };
      await api.call("POST", `/api/project/${project}/members`, { token: ana.token, json: reader });
      const shared = await made("/api/group", { name: "Con Ana" }, admin.token);
      for (const userId of [ana.id, people.fellow.id])
        await made("/api/member", { groupId: shared, userId }, admin.token);
      await api.call("PUT", `/api/chat/${chat}/groups`, { token: ana.token, json: { groupIds: [shared] } });
      const { items: jobs } = (await api.call("GET", "/api/job", { token: ana.token })).body as {
        items: { id: string }[];
      };
      await api.inspect(admin.token, "chat", chat);
      await api.call("PATCH", "/api/house", { token: admin.token, json: { opensRooms: "all" } });
      const assistant = await made("/api/assistant", { name: "Corrector" });
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
      const summary = { chatId: chat, upToMessageId: message, content: "Se saludaron." };
      const plan = { userId: ana.id, plan: "pro", startsAt: "2026-01-01T00:00:00.000Z" };
      return {
        user: ana.id,
        chat,
        message,
        conversation: message,
        file: (sent.body as { items: { id: string }[] }).items[0]?.id ?? "",
        project,
        job: jobs[0]?.id ?? "",
        assistant,
        room: await made("/api/room", { name: "3.º B", assistantId: assistant, endsAt: tomorrow }),
        skill: await made("/api/skill", { name: "bandos", description: "Bandos", content: "Sé breve" }),
        template: await made("/api/template", { title: "Carta", content: "Hola, {{nombre}}" }),
        schedule: await made("/api/schedule", { content: "Hola", days: [1], time: "08:00", zone: "Europe/Madrid" }),
        key: await made("/api/key", { name: "uno", scope: "read" }),
        summary: await made("/api/summary", summary, admin.token),
        subscription: await made("/api/subscription", plan, admin.token),
        member: await made(
          "/api/member",
          { groupId: await made("/api/group", { name: "Legal" }, admin.token), userId: ana.id },
          admin.token,
        ),
      };
    }

    const unknown = "01976e2f-4c1a-7b3d-9e5f-2a6b8c0d1e2f";

    function call(operation: string, account: Account | undefined, id = unknown) {
      const [method = "", path = ""] = operation.split(" ");
      const example = document[path]?.[method]?.requestBody?.content["application/json"]?.example;
      // Operations on one's own account are not looked at here.
      const json = path.startsWith("/api/user") && method === "patch" ? { name: "Otra" } : example;
      const address = path.replace(/\{\w+\}/g, id) + (path === "/api/search" ? "?q=hola" : "");
      return api.call(method.toUpperCase(), address, { token: account?.token ?? "", json });
    }

    it("has a rule: a new one without fails here", () => {
      const all = Object.entries(document).flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method} ${path}`),
      );
      expect(all.sort()).toEqual(Object.keys(rules).sort());
    });

    it.each(having("session", "active", "owner", "own", "theirs", "admin"))(
      "%s is 401 without a token (guard: signedIn)",
      async (operation) => {
        expect((await call(operation, undefined)).status).toBe(401);
        const forged = { ...people.ana, token: people.ana.token.split("").reverse().join("") };
        expect((await call(operation, forged)).status).toBe(401);
      },
    );

    it.each(having("guest"))("%s is nobody's with an account (guard: asGuest)", async (operation) => {
      for (const account of [undefined, people.ana, people.admin]) {
        expect((await call(operation, account)).status).toBe(401);
      }
    });

    it.each(having("public"))("%s is nobody's to be refused", async (operation) => {
      const { status } = await call(operation, undefined);
      // Nobody has that link, code, password or refresh token.
      const bySecret = ["post /auth/signin", "post /auth/signin/code", "post /auth/refresh"].includes(operation);
      expect(bySecret ? status : status === 401).toBe(bySecret ? 401 : false);
    });

    it.each(having("active", "owner", "theirs"))(
      "%s is 403 for an inactive account (guard: active)",
      async (operation) => {
        const answer = await call(operation, people.inactive);
        expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
          403,
          "Tu cuenta está inactiva. Escríbenos a soporte para reactivarla.",
        ]);
      },
    );

    it.each(having("admin"))("%s is not there for anybody else (guard: admin)", async (operation) => {
      for (const account of [people.ana, people.inactive, people.resting]) {
        const answer = await call(operation, account);
        // An inactive account is told so where everyone else may read some of it.
        expect([404, account === people.ana ? 404 : 403]).toContain(answer.status);
      }
    });

    it.each(withId(having("owner", "own", "theirs")))(
      "%s answers for another's thing exactly as for none (guards: findChat, findMessage and their like)",
      async (operation) => {
        const [, noun = ""] = /\/(?:api|auth)\/(?:intelligence\/)?(\w+)/.exec(operation) ?? [];
        const id = own[noun] ?? "";
        const seen = async (what: string) => {
          const { status, headers, text } = await call(operation, people.berta, what);
          const told = [...headers].filter(([name]) => name !== "x-request-id");
          return { status, told, text: text.replace(/"requestId":"[^"]+"/, "") };
        };
        const [another, none] = [await seen(id), await seen(unknown)];
        expect(another).toEqual(none);
        expect(another.status).toBe(404);
      },
    );

    it.each(withId(having("owner", "own", "theirs")))(
      "%s is read, or is not there, for those whom Ana lets read (guards: seeChat, seeMessage, seeFile, seeProject)",
      async (operation) => {
        const [, noun = ""] = /\/(?:api|auth)\/(?:intelligence\/)?(\w+)/.exec(operation) ?? [];
        for (const [account, reads] of [
          [people.reader, readInProject],
          [people.fellow, readInGroup],
        ] as const) {
          const { status } = await call(operation, account, own[noun]);
          expect(reads.includes(operation) ? status < 300 : status).toBe(reads.includes(operation) || 404);
        }
      },
    );

    it.each(withId(having("theirs")))("%s is not an admin's either", async (operation) => {
      const [, noun = ""] = /\/api\/(?:intelligence\/)?(\w+)/.exec(operation) ?? [];
      expect((await call(operation, people.admin, own[noun])).status).toBe(404);
    });

    it("no list of another's shows what Ana has", async () => {
      const lists = having("active", "session").filter((name) => name.startsWith("get ") && !name.includes("{"));
      for (const operation of lists) {
        const { text } = await call(operation, people.berta);
        for (const id of Object.values(own)) expect(`${operation}: ${text}`).not.toContain(id);
      }
    });

    it("never reveals a stored secret to owners or administrators", async () => {
      await api.call("POST", "/api/model", {
        token: people.admin.token,
        json: { name: "Con clave", provider: "openai", externalId: "x", apiKey: "sk-SECRETO" },
      });
      const secrets = ["SECRETO", "$argon2", ...(await hashes())];
      const reads = Object.keys(rules).filter((name) => name.startsWith("get ") && !name.includes("{token}"));
      for (const operation of reads) {
        const [, noun = ""] = /\/api\/(\w+)/.exec(operation) ?? [];
        for (const account of [people.ana, people.admin]) {
          const { text } = await call(operation, account, own[noun] ?? unknown);
          for (const secret of secrets) expect(`${operation}: ${text}`).not.toContain(secret);
        }
      }
    });

    async function hashes(): Promise<string[]> {
      const sessions = await api.db.selectFrom("sessions").select(["accessHash", "refreshHash"]).execute();
      const keys = await api.db.selectFrom("apiKeys").select("tokenHash").execute();
      return [...sessions.flatMap((row) => Object.values(row)), ...keys.map(({ tokenHash }) => tokenHash)];
    }

    const malformed: [name: string, body: string][] = [
      ["nothing", ""],
      ["no JSON", "{"],
      ["null", "null"],
      ["a number", "7"],
      ["a list", "[]"],
      ["a text", '"x"'],
      ["nothing in it", "{}"],
      ["a prototype", '{"__proto__":{"role":"admin"},"constructor":{"prototype":{}}}'],
      ["something deep", `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`],
      ["something huge", JSON.stringify({ name: "x".repeat(300_000) })],
      ["a stray byte", "\u0000\uFFFD"],
    ];
    const wrongValues = [null, 7, -1e308, true, "", "\u0000", "x".repeat(50_000), [], [[[]]], {}, { a: { b: 1 } }];

    // A reader of a body is no database.
    if (engine === sqlite)
      it("refuses malformed bodies with a sentence and keeps running", async () => {
        let sent = 0;
        const failed: string[] = [];
        for (const [path, operations] of Object.entries(document)) {
          for (const [method, { requestBody }] of Object.entries(operations)) {
            const example = requestBody?.content["application/json"]?.example;
            if (method === "get" || path === "/auth/signout") continue;
            const wrong = Object.keys(example ?? {}).flatMap((field) =>
              wrongValues.map((value) => JSON.stringify({ ...example, [field]: value })),
            );
            for (const body of [...malformed.map(([, text]) => text), ...wrong]) {
              const answer = await api.call(method.toUpperCase(), path.replace(/\{\w+\}/g, unknown), {
                token: people.admin.token,
                json: body,
                headers: { "Content-Type": "application/json" },
              });
              sent++;
              if (answer.status >= 400 && answer.status < 500) {
                const { detail, error_description } = answer.body as Record<string, string>;
                expect(detail ?? error_description).toMatch(/^(?!.*(nvalid |xpected|equired)).+[.?»]$/su);
              } else if (answer.status >= 500) failed.push(`${method} ${path} ${body.slice(0, 120)}`);
            }
          }
        }
        expect(failed).toEqual([]);
        expect(sent).toBeGreaterThan(1000);
        expect((await api.call("POST", "/auth/signin", { json: { email: people.ana.email, password } })).status).toBe(
          200,
        );
      });
  });
}
