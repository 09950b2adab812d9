import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { searchPassages } from "../../app/db/search/find.server.ts";
import { wordsLearning } from "../../app/jobs/learn-words.server.ts";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

const contract = `# Contrato de alquiler de la calle del Olmo

## Fianza

La fianza asciende a 1.280 euros y se devolverá en el plazo de un mes desde la entrega de las llaves.

## Vigencia

El contrato comienza el 3 de mayo de 2024. El arrendatario, con NIF 71.928.364-K, puede desistir avisando con treinta días.

## Animales

Se permite tener un gato, previa comunicación escrita (artículo 14).

## Obras

Las obras cuestan 2\u00a0450 euros.

## Tributos

El I.B.I. lo paga la propiedad.
`;
const recipe = `# Bizcocho de naranja

Se hornea cuarenta minutos a 180 grados. El molde se unta con mantequilla.
`;

describe.each(await queryEngines())("finding on $name", (engine) => {
  let api: Api;
  let ana: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    ana = await api.signUp("Ana");
    await api.upload(ana.token, [new File([contract], "olmo.md"), new File([recipe], "bizcocho_de_naranja.md")]);
    await learn();
  });
  afterAll(() => api.close());

  /** The work of every minute in the background. */
  let remembered = "{}";
  const learn = () =>
    wordsLearning(api.services).work({
      id: "",
      userId: null,
      subjectId: null,
      attempts: 1,
      data: remembered,
      signal: new AbortController().signal,
      progress: async () => {},
      remember: async (data) => {
        remembered = data;
      },
    });
  const first = async (question: string, owners = [ana.id]) =>
    (await searchPassages(api.db, engine.name, { question, owners, except: [], limit: 6 }))[0]?.text ?? "";

  it("brings the rest of a short paper that the question names", async () => {
    const page = (text: string) =>
      `${text} ${"Bases de la convocatoria y demás normas que rigen estas ayudas. ".repeat(22)}`;
    const request = `${page("# Solicitud de ayuda\n\nLa pide la mercería La Bobina de Oro.")}\n\n## Pago\n\n${page("IBAN ES38 3058 7011.")}`;
    const others = Array.from({ length: 7 }, (_, n) => new File([`La cuenta ${n} se quiere cobrar.`], `nota-${n}.md`));
    const eva = await api.signUp("Eva");
    await api.upload(eva.token, [new File([request], "solicitud.md"), ...others]);
    const question = "¿En qué cuenta quiere cobrar la ayuda la mercería La Bobina de Oro?";
    const hits = await searchPassages(api.db, engine.name, { question, owners: [eva.id], except: [], limit: 6 });
    expect(hits[0]?.text).toContain("Bobina de Oro");
    expect(hits.map(({ text }) => text).join(" ")).toContain("ES38 3058 7011");
  });

  it.each([
    ["misspelt words", "cuando debuelben la fiansa", "y se devolverá en el plazo"],
    ["other words for the same", "¿Puede el inquilino del piso tener una mascota?", "tener un gato"],
    ["an amount written otherwise", "1280 €", "1.280 euros"],
    ["an amount with a hard space", "2450 €", "2\u00a0450 euros"],
    ["a date written otherwise", "¿Qué pasa el 03/05/2024?", "3 de mayo"],
    ["a date without its year", "3 de mayo", "3 de mayo"],
    ["a code without its marks", "71928364K", "71.928.364-K"],
    ["a number in words", "artículo catorce", "artículo 14"],
    ["an abbreviation written without its dots", "¿Quién paga el IBI?", "El I.B.I. lo paga"],
    ["the heading that a passage stands under", "vigencia del contrato", "comienza el 3 de mayo"],
    ["what a document is called", "naranja bizcocho", "Se hornea"],
  ])("by %s", async (_, question, answer) => {
    expect(await first(question)).toContain(answer);
  });

  it("indexes again what an older version has indexed", async () => {
    const words = () => api.db.selectFrom("passages").orderBy("seq").select("words").execute();
    const before = await words();
    for (const { words: indexed } of before) {
      const [owner = ""] = indexed.split(" ");
      await api.db
        .updateTable("passages")
        .set({ words: `${owner} antes` })
        .where("words", "=", indexed)
        .execute();
    }
    remembered = JSON.stringify({ seq: 1, word: "" });
    await learn();
    expect(await words()).toEqual(before);
    expect(await first("naranja bizcocho")).toContain("Se hornea");
  });

  it("requires all words and corrects misspellings when nothing matches", async () => {
    const seek = async (q: string, token = ana.token) =>
      (
        (await api.call("GET", `/api/search?q=${encodeURIComponent(q)}`, { token })).body as {
          files: { name: string }[];
        }
      ).files.map(({ name }) => name);
    expect(await seek("fianza llaves")).toEqual(["olmo.md"]);
    expect(await seek("fiansa llabes")).toEqual(["olmo.md"]);
    expect(await seek("fianza zanahoria pepino rábano")).toEqual([]);
    const berta = await api.signUp("Berta");
    expect(await seek("fiansa llabes", berta.token)).toEqual([]);
  });

  it("gives programs the matching passages with their source", async () => {
    const path = "/api/search?mode=passages&q=%C2%BFpuede%20el%20inquilino%20tener%20mascota%3F";
    const { passages } = (await api.call("GET", path, { token: ana.token })).body as {
      passages: { text: string; title: string; fileId: string | null; position: number | null }[];
    };
    expect(passages[0]).toMatchObject({ title: "olmo.md", fileId: expect.any(String), position: 0 });
    expect(passages[0]?.text).toContain("tener un gato");
    const berta = await api.signUp("Otra");
    expect((await api.call("GET", path, { token: berta.token })).body).toMatchObject({ passages: [] });
    const wrong = await api.call("GET", "/api/search?q=x&mode=y", { token: ana.token });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("mode tiene que ser all o passages.")]);
  });

  it("a short question goes on from the one before it", async () => {
    const project = await api.call("POST", "/api/project", { token: ana.token, json: { name: "Piso" } });
    const { id: projectId } = project.body as { id: string };
    await api.upload(ana.token, [new File([contract], "piso.md")], { projectId });
    const asked = { content: "¿Cuándo se devuelve la fianza del contrato?", projectId };
    const [start] = await api.converse(ana.token, asked);
    const chatId = start?.type === "start" ? start.chatId : "";
    expect(textOf(await api.converse(ana.token, { content: "¿Y cuánto es?", chatId }))).toContain("1.280 euros");
  });

  it("words of what was deleted are forgotten", async () => {
    const known = async () =>
      (await api.db.selectFrom("words").where("word", "like", "mantequill%").select("word").execute()).length;
    await api.upload(ana.token, [new File(["La palabra mantequillera no está en otro sitio."], "suelto.txt")]);
    await learn();
    const before = await known();
    const listed = (await api.call("GET", "/api/file?q=suelto", { token: ana.token })).body as {
      items: { id: string }[];
    };
    await api.call("DELETE", `/api/file/${listed.items[0]?.id}`, { token: ana.token });
    remembered = JSON.stringify({ ...(JSON.parse(remembered) as object), word: "" });
    await learn();
    expect([before, await known()]).toEqual([2, 1]);
  });
});
