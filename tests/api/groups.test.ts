import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";

type Named = { items: { id: string; name: string }[] };

for (const engine of await queryEngines()) {
  describe(`groups on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let berta: Account;
    let model: Awaited<ReturnType<typeof startModelServer>>;
    beforeAll(async () => {
      api = await openApi(engine);
      model = await startModelServer();
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
    });
    afterAll(async () => {
      await api.close();
      await model.stop();
    });

    const made = async (path: string, json: object, token = admin.token) => {
      const answer = await api.call("POST", path, { token, json });
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.body as { id: string }).id;
    };
    const group = (name: string, limits: object = {}) => made("/api/group", { name, ...limits });
    const join = (groupId: string, { id: userId }: Account) => made("/api/member", { groupId, userId });
    const namesFor = async (path: string, { token }: Account) =>
      ((await api.call("GET", path, { token })).body as Named).items.map(({ name }) => name);
    const models = (more: object) =>
      made("/api/model", {
        name: "De prueba",
        provider: "openai-compatible",
        externalId: "prueba",
        baseUrl: model.url,
        ...more,
      });

    it("deny minors web and images and name the responsible organisation", async () => {
      const school = await group("Primero de la ESO", { minors: true });
      const leo = await api.signUp("Leo");
      await join(school, leo);
      await made("/api/tool", { name: "Buscar", kind: "brave", secret: "clave", allowed: "everyone" });
      const offered = async ({ id }: Account) =>
        (await api.services.toolbox.offered(id, [])).tools.map(({ name }) => name);
      expect(await offered(berta)).toEqual(expect.arrayContaining(["buscar_en_la_web", "leer_pagina"]));
      expect((await offered(leo)).filter((name) => /web|pagina|imagen/.test(name))).toEqual([]);
      expect(await api.services.toolbox.readsPages(berta.id)).toBe(true);
      expect(await api.services.toolbox.readsPages(leo.id)).toBe(false);
      const notice = async ({ token }: Account) =>
        ((await api.call("GET", "/api/dashboard/initialize", { token })).body as { aiNotice: string }).aiNotice;
      expect(await notice(leo)).toBe("Contesta una máquina. Responde de ella Asociación Ejemplo.");
      expect(await notice(berta)).toBe("Contesta una máquina.");
    });

    it("offer a group's model to members and administrators only", async () => {
      const legal = await group("Legal");
      await join(legal, ana);
      const modelId = await models({ name: "Reservado", groupIds: [legal] });
      expect(await namesFor("/api/model", ana)).toContain("Reservado");
      expect(await namesFor("/api/model", admin)).toContain("Reservado");
      expect(await namesFor("/api/model", berta)).not.toContain("Reservado");
      expect((await api.call("GET", `/api/model/${modelId}`, { token: berta.token })).status).toBe(404);
      const asked = (token: string) =>
        api.call("POST", "/api/intelligence/conversation", { token, json: { content: "Hola", modelId } });
      expect((await asked(ana.token)).status).toBe(200);
      const refused = await asked(berta.token);
      expect(refused.status).toBe(422);
      expect((refused.body as { detail: string }).detail).toBe("Ese modelo ya no está disponible. Elige otro.");
      const program = await api.call("POST", "/chat/completions", {
        token: berta.token,
        json: { model: "Reservado", messages: [{ role: "user", content: "Hola" }] },
      });
      expect(program.status).toBe(404);
    });

    it("continue a former member's chats with another model", async () => {
      const ventas = await group("Ventas");
      const membership = await join(ventas, berta);
      const modelId = await models({ name: "De ventas", groupIds: [ventas] });
      const [start] = await api.converse(berta.token, { content: "Hola", modelId });
      if (start?.type !== "start") throw new Error("no start");
      expect(start.modelId).toBe(modelId);
      await api.call("DELETE", `/api/member/${membership}`, { token: admin.token });
      const [next] = await api.converse(berta.token, { content: "¿Sigues?", chatId: start.chatId });
      if (next?.type !== "start") throw new Error("no start");
      expect(next.modelId).not.toBe(modelId);
    });

    it("keep a deleted group's model hidden from everyone", async () => {
      const breve = await group("Breve");
      await join(breve, ana);
      const modelId = await models({ name: "De nadie", groupIds: [breve] });
      expect((await api.call("DELETE", `/api/group/${breve}`, { token: admin.token })).status).toBe(204);
      expect(await namesFor("/api/model", ana)).not.toContain("De nadie");
      expect(await namesFor("/api/model", berta)).not.toContain("De nadie");
      const stored = (await api.call("GET", `/api/model/${modelId}`, { token: admin.token })).body as object;
      expect(stored).toMatchObject({ groupIds: [breve] });
    });

    it("limit tools and shared assistants to their members", async () => {
      const obra = await group("Obra");
      await join(obra, ana);
      const tool = await api.call("GET", "/api/tool?q=Calcular", { token: admin.token });
      const [sums] = (tool.body as { items: Record<string, unknown>[] }).items;
      const { name, kind, allowed, enabled, seconds, kilobytes, position } = sums ?? {};
      const json = { name, kind, allowed, enabled, seconds, kilobytes, position, groupIds: [obra] };
      const changed = await api.call("PUT", `/api/tool/${sums?.id}`, { token: admin.token, json });
      expect(changed.status).toBe(200);
      expect(await namesFor("/api/tool", ana)).toContain("Calcular");
      expect(await namesFor("/api/tool", berta)).not.toContain("Calcular");
      const offered = async ({ id }: Account) =>
        (await api.services.toolbox.offered(id, [])).tools.map(({ tool: own }) => own);
      expect((await offered(ana)).length).toBe((await offered(berta)).length + 1);
      const assistantId = await made("/api/assistant", {
        name: "Aparejador",
        instructions: "Hablas de obras.",
        shared: true,
        groupIds: [obra],
      });
      expect(await namesFor("/api/assistant", ana)).toContain("Aparejador");
      expect(await namesFor("/api/assistant", berta)).not.toContain("Aparejador");
      const asked = await api.call("POST", "/api/intelligence/conversation", {
        token: berta.token,
        json: { content: "Hola", assistantId },
      });
      expect(asked.status).toBe(422);
    });

    it("put a group's training in its members' prompts only", async () => {
      const norte = await group("Norte");
      await join(norte, ana);
      const json = { title: "Norte", kind: "instruction", content: "Habla siempre del norte.", groupIds: [norte] };
      await made("/api/training", json);
      const modelId = await models({ name: "Para el norte" });
      const promptOf = async ({ token }: Account) => {
        const [start] = await api.converse(token, { content: "Hola", modelId });
        if (start?.type !== "start") throw new Error("no start");
        return (await api.call("GET", `/api/message/${start.messageId}/prompt`, { token })).text;
      };
      expect(await promptOf(ana)).toContain("Habla siempre del norte.");
      expect(await promptOf(berta)).not.toContain("Habla siempre del norte.");
      expect(await promptOf(admin)).not.toContain("Habla siempre del norte.");
    });

    it("apply the most generous limit, also over the plan", async () => {
      const carla = await api.signUp("Carla");
      const plan = { userId: carla.id, plan: "gratis", startsAt: "2026-01-01T00:00:00.000Z", messagesPerDay: 1 };
      await made("/api/subscription", plan);
      await join(await group("Dos al día", { messagesPerDay: 2 }), carla);
      await join(await group("Tres al día", { messagesPerDay: 3 }), carla);
      for (let n = 0; n < 3; n++) expect(textOf(await api.converse(carla.token, { content: "Hola" }))).toBeTruthy();
      const refused = await api.call("POST", "/api/intelligence/conversation", {
        token: carla.token,
        json: { content: "Cuatro" },
      });
      expect(refused.status).toBe(429);
      expect((refused.body as { detail: string }).detail).toContain("Has usado los 3 mensajes de hoy.");
      const session = (await api.call("GET", "/auth/session", { token: carla.token })).body as object;
      expect(session).toMatchObject({ limits: { messagesPerDay: 3, costPerMonth: null } });
    });

    it("stop members at a shared budget unless another group pays", async () => {
      const dora = await api.signUp("Dora");
      const elsa = await api.signUp("Elsa");
      const poor = await group("Justo", { budget: 0.000001 });
      await join(poor, dora);
      await join(poor, elsa);
      const modelId = await models({ name: "De pago", inputPrice: 1000, outputPrice: 1000 });
      const ask = (token: string) =>
        api.call("POST", "/api/intelligence/conversation", { token, json: { content: "Hola", modelId } });
      expect((await ask(dora.token)).status).toBe(200);
      const refused = await ask(elsa.token);
      expect(refused.status).toBe(429);
      expect((refused.body as { detail: string }).detail).toMatch(
        /^Se ha gastado el presupuesto de este mes de tu grupo «Justo»\. Podrás seguir .*borrador\.$/,
      );
      const session = (await api.call("GET", "/auth/session", { token: elsa.token })).body as {
        groups: { name: string; budget: number }[];
      };
      expect(session.groups[0]?.name).toBe("Justo");
      expect(session.groups[0]?.budget).toBeGreaterThan(1);
      const figures = (await api.call("GET", "/api/usage/figures", { token: admin.token })).body as {
        groups: { name: string; cost: number }[];
      };
      expect(figures.groups.find(({ name }) => name === "Justo")?.cost).toBeGreaterThan(0);
      // To the last cent, and not before.
      const spent = await api.db.selectFrom("groupCosts").where("groupId", "=", poor).select("cost").executeTakeFirst();
      const budget = (value: number) =>
        api.db.updateTable("groups").set({ budget: value }).where("id", "=", poor).execute();
      await budget(Number(spent?.cost));
      expect((await ask(elsa.token)).status).toBe(429);
      await budget(Number(spent?.cost) * 1.001);
      expect((await ask(elsa.token)).status).toBe(200);
      expect((await ask(elsa.token)).status).toBe(429);
      await join(await group("Rico", { budget: 1000 }), elsa);
      expect((await ask(elsa.token)).status).toBe(200);
    });

    it("show a notice to members until read, changed or ended", async () => {
      const sur = await group("Sur");
      await join(sur, ana);
      const seenBy = async ({ token }: Account) =>
        (
          (await api.call("GET", "/api/dashboard/initialize", { token })).body as { notices: { text: string }[] }
        ).notices.map(({ text }) => text);
      const notice = await made("/api/notice", { text: "El lunes no hay servicio.", groupIds: [sur] });
      expect(await seenBy(ana)).toEqual(["El lunes no hay servicio."]);
      expect(await seenBy(berta)).toEqual([]);
      const read = ({ token }: Account) => api.call("POST", `/api/notice/${notice}/read`, { token });
      expect((await read(berta)).status).toBe(404);
      expect((await Promise.all([read(ana), read(ana)])).map(({ status }) => status)).toEqual([204, 204]);
      expect(await seenBy(ana)).toEqual([]);
      const change = (json: object) => api.call("PUT", `/api/notice/${notice}`, { token: admin.token, json });
      await change({ text: "El martes tampoco.", groupIds: null });
      expect(await seenBy(ana)).toEqual(["El martes tampoco."]);
      expect(await seenBy(berta)).toEqual(["El martes tampoco."]);
      await change({ text: "El martes tampoco.", endsAt: new Date(Date.now() - 1000).toISOString() });
      expect(await seenBy(ana)).toEqual([]);
    });

    it("bad input is told by its field", async () => {
      await group("Única");
      const cases: [string, object, string, string][] = [
        ["/api/group", { name: "Única" }, "name", "Ya hay un grupo con ese nombre."],
        ["/api/group", { name: "Otra", budget: -1 }, "budget", "El presupuesto no puede ser negativo."],
        ["/api/member", { groupId: "nada", userId: ana.id }, "groupId", "Ese grupo no existe."],
      ];
      for (const [path, json, field, sentence] of cases) {
        const answer = await api.call("POST", path, { token: admin.token, json });
        expect([answer.status, (answer.body as { errors: object }).errors]).toEqual([422, { [field]: sentence }]);
      }
      const unknown = await api.call("POST", "/api/training", {
        token: admin.token,
        json: { title: "X", kind: "instruction", content: "X", groupIds: ["Vetnas"] },
      });
      expect((unknown.body as { errors: object }).errors).toEqual({ groupIds: "No hay ningún grupo «Vetnas»." });
      const twice = await join(await group("Doble"), ana).then(async () => {
        const [doble] = ((await api.call("GET", "/api/group?q=Doble", { token: admin.token })).body as Named).items;
        return api.call("POST", "/api/member", { token: admin.token, json: { groupId: doble?.id, userId: ana.id } });
      });
      expect((twice.body as { detail: string }).detail).toBe("Esa persona ya está en el grupo.");
    });
  });
}
