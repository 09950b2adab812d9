import { strToU8, zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "../../app/process/limits.ts";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { makes, startWritingModel } from "../support/writing-model.ts";

let models: Awaited<ReturnType<typeof startWritingModel>>;
beforeAll(async () => {
  models = await startWritingModel();
});
afterAll(() => models.stop());

type Skill = { id: string; name: string; version: number; content: string; description: string };

const head =
  "---\nname: Redactar bandos\ndescription: >\n  Cómo se redacta un bando municipal.\n  Úsalo cuando pidan uno.\n---\n";
const bando = `${head}\n# Bandos\n\nEmpieza por «HAGO SABER». Mira referencias/formulas.md.`;
const zip = (files: Record<string, string | Uint8Array>) =>
  new File(
    [
      zipSync(
        Object.fromEntries(
          Object.entries(files).map(([path, text]) => [path, typeof text === "string" ? strToU8(text) : text]),
        ),
      ) as Uint8Array<ArrayBuffer>,
    ],
    "oficio.zip",
  );

for (const engine of await ruleEngines()) {
  describe(`skills, on ${engine.name}`, () => {
    let api: Api;
    let [admin, ana, luis] = [{}, {}, {}] as Account[] as [Account, Account, Account];
    let modelId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      [admin, ana, luis] = [await api.signUp("Admin"), await api.signUp("Ana"), await api.signUp("Luis")];
      const json = { name: "Escribano", provider: "openai-compatible", externalId: "x", usesTools: true };
      const made = await api.call("POST", "/api/model", { token: admin.token, json: { ...json, baseUrl: models.url } });
      modelId = (made.body as { id: string }).id;
    });
    afterAll(() => api.close());

    const upload = (file: File, { token } = ana) => api.upload(token, [file], {}, "/api/skill/upload");
    const uploaded = async (file: File, who = ana) => {
      const { status, body, text } = await upload(file, who);
      expect(status, text).toBe(201);
      return body as { skill: Skill; left: string[] };
    };
    const list = async ({ token }: Account) =>
      ((await api.call("GET", "/api/skill", { token })).body as { items: Skill[] }).items;
    const ask = async (content: string, { token } = ana, more: object = {}) =>
      textOf(await api.converse(token, { content, modelId, ...more }));
    /** Instructions that the model was given with the last question. */
    const given = () =>
      String(
        models.asked
          .filter((turns) => !turns.some(({ content }) => String(content).startsWith("Pon título")))
          .at(-1)?.[0]?.content,
      );

    it("are uploaded as a ZIP folder in the open format", async () => {
      const { skill, left } = await uploaded(
        zip({
          "bandos/SKILL.md": bando,
          "bandos/referencias/formulas.md": "Lo que se hace público.",
          "bandos/guion.py": "print(1)",
        }),
      );
      expect(skill).toMatchObject({
        name: "redactar-bandos",
        description: "Cómo se redacta un bando municipal. Úsalo cuando pidan uno.",
        content: expect.stringContaining("HAGO SABER"),
        version: 1,
      });
      expect(left).toEqual([]);
      const { body } = await api.call("GET", `/api/skill/${skill.id}/files`, { token: ana.token });
      const { items } = body as { items: { id: string; path: string }[] };
      expect(items.map(({ path }) => path)).toEqual(["guion.py", "referencias/formulas.md"]);
      const one = await api.call("GET", `/api/skill/${skill.id}/files/${items[1]?.id}`, { token: ana.token });
      expect(one.body).toMatchObject({ text: "Lo que se hace público." });
      expect((await api.call("GET", `/api/skill/${skill.id}/files`, { token: luis.token })).status).toBe(404);
    });

    it("are listed by name and purpose, opened on model request", async () => {
      const said = await ask(makes("oficio", { nombre: "redactar-bandos" }));
      expect(said).toContain("Oficio «redactar-bandos», versión 1.");
      expect(said).toContain("HAGO SABER");
      expect(said).toContain("referencias/formulas.md (24 bytes)");
      expect(given()).toContain("- redactar-bandos: Cómo se redacta un bando municipal.");
      expect(given()).not.toContain("HAGO SABER");
      const file = await ask(makes("oficio", { nombre: "redactar-bandos", archivo: "referencias/formulas.md" }));
      expect(file).toContain("Lo que se hace público.");
      expect(await ask(makes("oficio", { nombre: "otro" }))).toContain("No hay ningún oficio con ese nombre");
      expect(await ask(makes("oficio", { nombre: "redactar-bandos", archivo: "../../etc/passwd" }))).toContain(
        "no tiene ese archivo",
      );
    });

    it("are not offered without any or with the tool disabled", async () => {
      await ask("Hola", luis);
      expect(given()).not.toContain("Oficios");
      const tools = (await api.call("GET", "/api/tool", { token: admin.token })).body as {
        items: { id: string; kind: string }[];
      };
      const tool = tools.items.find(({ kind }) => kind === "skills");
      const set = (enabled: boolean) =>
        api.db
          .updateTable("tools")
          .set({ enabled: enabled ? 1 : 0 })
          .where("id", "=", tool?.id ?? "")
          .execute();
      await set(false);
      await ask("Hola");
      expect(given()).not.toContain("redactar-bandos");
      await set(true);
    });

    it("are another version when they are uploaded or changed again", async () => {
      const { skill } = await uploaded(zip({ "SKILL.md": bando.replace("HAGO SABER", "SE HACE SABER") }));
      expect(skill.version).toBe(2);
      const files = await api.call("GET", `/api/skill/${skill.id}/files`, { token: ana.token });
      expect((files.body as { items: unknown[] }).items).toEqual([]);
      const { name, description } = skill;
      const json = { name, description, content: "A mano.", shared: false, groupIds: null };
      const { body } = await api.call("PUT", `/api/skill/${skill.id}`, { token: ana.token, json });
      expect(body).toMatchObject({ version: 3, content: "A mano." });
      expect((await list(ana)).map((one) => one.name)).toEqual(["redactar-bandos"]);
    });

    it("are shared by who administers, with all or with groups", async () => {
      const json = { name: "actas", description: "Levantar actas", content: "Con orden del día.", shared: true };
      expect((await api.call("POST", "/api/skill", { token: luis.token, json })).text).toContain(
        "Solo quien administra",
      );
      const group = await api.call("POST", "/api/group", { token: admin.token, json: { name: "Secretaría" } });
      const groupId = (group.body as { id: string }).id;
      await api.call("POST", "/api/member", { token: admin.token, json: { groupId, userId: luis.id } });
      const made = await api.call("POST", "/api/skill", { token: admin.token, json: { ...json, groupIds: [groupId] } });
      expect(made.status, made.text).toBe(201);
      expect((await list(luis)).map(({ name }) => name)).toEqual(["actas"]);
      expect((await list(ana)).map(({ name }) => name)).toEqual(["redactar-bandos"]);
      expect(await ask(makes("oficio", { nombre: "actas" }), luis)).toContain("Con orden del día.");
      expect(await ask(makes("oficio", { nombre: "actas" }))).toContain("No hay ningún oficio con ese nombre");
      const id = (made.body as Skill).id;
      expect((await api.call("DELETE", `/api/skill/${id}`, { token: luis.token })).status).toBe(404);
    });

    it("refuse what is no skill, and say why", async () => {
      const wrong: [File, string][] = [
        [zip({ "leeme.txt": "Hola" }), "no hay ningún SKILL.md"],
        [zip({ "SKILL.md": "# Sin cabecera" }), "SKILL.md empieza por una línea «---»"],
        [zip({ "SKILL.md": "---\ndescription: x\n---\nA" }), "le falta «name»"],
        [zip({ "SKILL.md": "---\nname: x\n---\nA" }), "le falta «description»"],
        [zip({ "SKILL.md": "---\nname: [\n---\nA" }), "no es YAML"],
        [zip({ "SKILL.md": "---\nname: x\ndescription: y\n---\n" }), "falta el texto"],
        [zip({ "SKILL.md": "---\na: &a [x]\nb: [*a, *a]\nname: x\ndescription: y\n---\nA" }), "no es YAML"],
        [zip({ "SKILL.md": `---\nname: x\ndescription: y\n---\n${"a".repeat(limits.skillContent + 1)}` }), "60.000"],
        [new File([new Uint8Array([1, 0, 255, 254])], "x.md"), "no es un ZIP ni un texto"],
        [new File(["PK\u0003\u0004 cortado"], "x.zip"), "dañado"],
      ];
      for (const [file, sentence] of wrong) {
        const { status, text } = await upload(file);
        expect(`${status} ${text}`).toContain("422");
        expect(text).toContain(sentence);
      }
    });

    it("leave out unsuitable files of the folder and report them", async () => {
      const bomb = new Uint8Array(limits.skillFile + 1).fill(97);
      const { skill, left } = await uploaded(
        zip({
          "SKILL.md": "---\nname: limpio\ndescription: y\n---\nA",
          "../fuera.md": "x",
          "a/../../b.md": "x",
          "C:/x.md": "x",
          "a\\b.md": "x",
          "foto.png": new Uint8Array([137, 80, 78, 71, 0, 255]),
          "grande.txt": bomb,
          "bien.md": "Bien",
        }),
      );
      const { body } = await api.call("GET", `/api/skill/${skill.id}/files`, { token: ana.token });
      expect((body as { items: { path: string }[] }).items.map(({ path }) => path)).toEqual(["bien.md"]);
      expect(left).toHaveLength(4);
      expect(left.join(" ")).toMatch(/«foto\.png» no es un texto\..*«grande\.txt» pesa demasiado\./);
    });

    it("are not changed for everybody by who administers no more", async () => {
      await uploaded(zip({ "SKILL.md": bando.replace("Redactar bandos", "De todas") }), admin);
      await api.db.updateTable("skills").set({ shared: 1 }).where("name", "=", "de-todas").execute();
      await api.db.updateTable("users").set({ role: "user" }).where("id", "=", admin.id).execute();
      const { text } = await upload(zip({ "SKILL.md": bando.replace("Redactar bandos", "De todas") }), admin);
      expect(text).toContain("eso solo lo cambia quien administra");
      await api.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.id).execute();
      await api.db.deleteFrom("skills").where("name", "=", "de-todas").execute();
    });

    it("are followed, and long ones read in parts", async () => {
      const long = `${"a".repeat(30_000)} FIN`;
      await uploaded(zip({ "SKILL.md": `---\nname: largo\ndescription: Largo\n---\n${long}`, "b.md": long }));
      await ask(makes("oficio", { nombre: "largo" }));
      const told = JSON.stringify(
        models.asked.filter((turns) => !turns.some(({ content }) => String(content).startsWith("Pon título"))).at(-1),
      );
      expect(told).not.toMatch(/Datos de «Abrir un oficio»/);
      expect(told).toContain("- b.md (30.004 bytes)");
      expect(told).toContain("[Sigue: pide lo que falta con «desde»: 24000.]");
      expect(await ask(makes("oficio", { nombre: "largo", desde: 24_000 }))).toContain("FIN");
      expect(await ask(makes("oficio", { nombre: "largo\u0000", archivo: "b.md", desde: 24_000 }))).toContain("FIN");
    });

    it("say what of a ZIP is none of theirs", async () => {
      const { skill, left } = await uploaded(
        zip({
          "./uno/SKILL.md": "---\nname: uno\ndescription: y\n---\nA",
          "uno/x.md": "x",
          "dos/SKILL.md": "x",
          "uno/skill.md": "y",
        }),
      );
      expect(skill.name).toBe("uno");
      expect(left.toSorted()).toEqual([
        "«dos/SKILL.md» está fuera de la carpeta del oficio.",
        "«skill.md» está dos veces: vale la primera.",
      ]);
    });

    it("are limited to a hundred and keep the prompt short", async () => {
      const now = Date.now();
      const rows = Array.from({ length: limits.skills }, (_, n) => ({
        ...{ id: `skill-${n}`, createdAt: now, updatedAt: now, userId: luis.id, name: `oficio-${n}` },
        ...{ description: "y ".repeat(500), content: "A", shared: 0 as const, groupIds: null, version: 1 },
      }));
      await api.db.insertInto("skills").values(rows).execute();
      await ask("Hola", luis);
      expect(given().length).toBeLessThan(16_000);
      expect(given()).toContain("- oficio-0:");
      expect(given()).toContain("- oficio-99:");
      expect(given()).toContain("- actas:");
      const { text } = await upload(zip({ "SKILL.md": bando }), luis);
      expect(text).toContain("Puedes tener 100 oficios");
    });
  });
}
