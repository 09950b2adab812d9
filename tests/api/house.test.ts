import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

const svg = (inner: string, attributes = 'viewBox="0 0 10 10"') =>
  `<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inner}</svg>`;

for (const engine of await queryEngines()) {
  describe(`the house on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
    });
    afterAll(() => api.close());

    const change = (json: object, headers: Record<string, string> = {}) =>
      api.call("PATCH", "/api/house", { token: admin.token, json, headers });
    const shown = async () => (await api.call("GET", "/api/house/public")).body as Record<string, unknown>;
    const put = (content: string | Buffer, kind = "logo", { token } = admin) => {
      const body = new FormData();
      body.append("image", new File([content as BlobPart], "imagen"));
      return api.fetch(`/api/house/image/${kind}`, token, { method: "PUT", body });
    };
    const image = (kind: string) => api.fetch(`/api/house/image/${kind}`, admin.token);
    const refusal = async (answer: Response) => (await answer.json()) as { errors?: Record<string, string> };

    it("shows default settings until an administrator changes them", async () => {
      expect(await shown()).toMatchObject({ name: "Tertulia", accent: null, logo: null, foot: "" });
      for (const token of [ana.token, ""]) {
        const asked = await Promise.all([
          api.call("PATCH", "/api/house", { token, json: { name: "Mía" } }),
          api.call("GET", "/api/house", { token }),
        ]);
        expect(asked.map(({ status }) => status)).toEqual(token ? [404, 404] : [401, 401]);
      }
      expect((await put(svg(""), "logo", ana)).status).toBe(404);
      const changed = await change({ name: " Ayuntamiento\nde Ejemplo ", foot: "Plaza Mayor, 1" });
      expect(changed.body).toMatchObject({ name: "Ayuntamiento de Ejemplo", accent: null });
      expect(await shown()).toMatchObject({ name: "Ayuntamiento de Ejemplo", foot: "Plaza Mayor, 1" });
      const trail = await api.call("GET", '/api/audit?filter={"resource":"house"}', { token: admin.token });
      expect(JSON.stringify(trail.body)).toContain("Ayuntamiento de Ejemplo");
    });

    it("refuses a low-contrast colour and suggests the nearest readable one", async () => {
      const refused = await change({ accent: "#003876" });
      expect(refused.status).toBe(422);
      const { accent } = (refused.body as { errors: Record<string, string> }).errors;
      expect(accent).toMatch(/^Ese color casi no se lee sobre el fondo \(1,\d de contraste; hacen falta 4,5\)\./);
      const nearest = /#[0-9a-f]{6}/.exec(accent ?? "")?.[0];
      expect((await change({ accent: nearest?.toUpperCase() })).body).toMatchObject({ accent: nearest });
      expect((await change({ accent: "azul" })).text).toContain("El color se escribe como #1a6fb5");
      expect((await change({ accent: "" })).body).toMatchObject({ accent: null });
    });

    it("refuses invalid time zones, names, groups, domains and stale versions", async () => {
      expect((await change({ timeZone: "Europa/Madrid" })).text).toContain("Esa zona horaria no existe.");
      expect((await change({ name: " " })).text).toContain("Falta el nombre.");
      expect((await change({ groupIds: ["ninguno"] })).text).toContain("No hay ningún grupo");
      expect((await change({ otro: 1 })).status).toBe(422);
      for (const signupDomains of ["ayto.es;sede.es", "*.ayto.es", "ayto, es"]) {
        expect((await change({ signupDomains })).text).toContain("Los dominios van separados con comas");
      }
      expect((await change({ name: "Otra" }, { "If-Match": '"2020-01-01T00:00:00.000Z"' })).status).toBe(409);
    });

    it("allows sign-up from its domains and assigns default groups", async () => {
      const group = await api.call("POST", "/api/group", { token: admin.token, json: { name: "Todos" } });
      const groupId = (group.body as { id: string }).id;
      const set = await change({ signupDomains: "@Ayto.es  sede.ayto.es", groupIds: [groupId] });
      expect(set.body).toMatchObject({ signupDomains: "ayto.es, sede.ayto.es", groupIds: [groupId] });
      const join = (email: string) => api.call("POST", "/auth/signup", { json: { name: "Eva", email, password } });
      const refused = await join("eva@otro-ayto.es");
      expect(refused.status).toBe(422);
      expect(refused.text).toContain("Aquí solo se crean cuentas con un correo de ayto.es o sede.ayto.es.");
      expect((await join("EVA@AYTO.es")).status).toBe(201);
      const given = { name: "Por mano", email: "mano@lejos.es", password, role: "user", status: "active" };
      expect((await api.call("POST", "/api/user", { token: admin.token, json: given })).status).toBe(201);
      const members = await api.call("GET", `/api/member?filter={"groupId":"${groupId}"}`, { token: admin.token });
      expect((members.body as { total: number }).total).toBe(2);
      await change({ signupDomains: "", groupIds: null });
    });

    it("cleans an SVG logo down to its drawing", async () => {
      const drawn = svg(
        '<metadata><rdf:RDF/></metadata><style>.a{fill:url(#g)}</style><defs><linearGradient id="g"/></defs><path class="a" d="M0 0h10" inkscape:label="x"/><use xlink:href="#g"/><title>A &amp; B</title>',
      );
      expect((await put(drawn)).status).toBe(204);
      const { logo } = await shown();
      expect(logo).toMatch(/^[0-9a-f]{12}$/);
      const answer = await image("logo");
      expect(answer.headers.get("Content-Type")).toBe("image/svg+xml");
      expect(answer.headers.get("Content-Security-Policy")).toContain("sandbox");
      expect(await answer.text()).toBe(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><style>.a{fill:url(#g)}</style><defs><linearGradient id="g"></linearGradient></defs><path class="a" d="M0 0h10"></path><use href="#g"></use><title>A &amp; B</title></svg>',
      );
      const remove = await api.call("DELETE", "/api/house/image/logo", { token: admin.token });
      expect(remove.status).toBe(204);
      expect(await shown()).toMatchObject({ logo: null });
      expect((await image("logo")).status).toBe(404);
    });

    it.each([
      ["<script>alert(1)</script>", "<script>"],
      ["<iframe/>", "<iframe>"],
      ['<image href="https://otro.es/a.png"/>', "<image>"],
      ['<path onload="x()"/>', "«onload»"],
      ['<path ONLOAD="x()"/>', "«ONLOAD»"],
      ['<a href="javascript:x()"/>', "<a>"],
      ['<use xlink:href="https://otro.es/a.svg#b"/>', "enlaces"],
      ['<path style="fill:url(https://otro.es)"/>', "enlaces"],
      ['<path style="fill:u\\72l(https://otro.es)"/>', "estilos"],
      ["<style>@import 'https://otro.es/a.css'</style>", "estilos"],
      ["<style><![CDATA[@font-face{}]]></style>", "estilos"],
      ["<animate/>", "<animate>"],
      ["<style>.a{fill:ur&#108;(https://otro.es/a)}</style>", "enlaces"],
      ["<style><title/>@import 'https://otro.es/a';</style>", "<title>"],
      ["<path style=\"mask-image:image-set('https://otro.es/a' 1x)\"/>", "estilos"],
      ['<path d&quot;x="1"/>', "«d"],
      ["</svg><svg>", "no es un SVG"],
      [
        `<defs><g id="a0"><path d="M0 0h1"/></g>${Array.from({ length: 45 }, (_, n) => `<g id="a${n + 1}"><use href="#a${n}"/><use href="#a${n}"/></g>`).join("")}</defs><use href="#a45"/>`,
        "demasiadas piezas",
      ],
      ["<h:script xmlns:h='http://www.w3.org/1999/xhtml'>x()</h:script><set/>", "<set>"],
      ["<g>".repeat(6_000), "demasiadas piezas"],
      ['<use href="#a"/>'.repeat(200), "demasiadas piezas"],
    ])("does not take an SVG with %s", async (inner, named) => {
      const answer = await put(svg(inner));
      expect(answer.status).toBe(422);
      expect((await refusal(answer)).errors?.image).toContain(named);
    });

    it.each([
      ["an SVG without a size", svg("<g/>", ""), "sin medidas"],
      ["a text", "hola", "no es una imagen"],
      ["a page", "<!DOCTYPE html><svg/>", "no es una imagen"],
      ["another picture's beginning", Buffer.from("89504e470d0a1a0a", "hex"), "no es una imagen"],
      ["nothing", "", "Elige una imagen."],
      ["too much", Buffer.alloc(2_000_001), "pesa más de 2 MB"],
    ])("does not take %s", async (_what, content, named) => {
      const answer = await put(content);
      expect(answer.status).toBe(422);
      expect((await refusal(answer)).errors?.image).toContain(named);
    });

    it.each([
      [
        "Illustrator",
        '<style>/* https://otro.es */ .a{fill:#fff} @media print{.a{fill:#000}}</style><switch><foreignObject requiredExtensions="x"><p/></foreignObject><g data-name="logo@2x"><path id="a@b" class="a" d="M0 0h9v9z"/></g></switch>',
        'viewBox="0 0 10 10" enable-background="new 0 0 10 10"',
      ],
      [
        "Inkscape",
        '<sodipodi:namedview/><svg:path style="fill:#fff;marker-end:url(\'#m\')" d="M0 0h9v9z"/><flowRoot><p/></flowRoot>',
        'width="210mm" height="297mm" viewBox="0 0 21000 29700"',
      ],
      ["a large drawing", '<path d="M0 0h9v9z"/>', 'width="20000" height="8000"'],
    ])("takes what %s writes", async (_program, inner, attributes) => {
      expect((await put(svg(inner, attributes))).status).toBe(204);
      expect((await put(svg(inner, attributes), "icon")).status).toBe(204);
    });

    it("makes small and large icons from any image", async () => {
      const photo = sharp({ create: { width: 900, height: 300, channels: 3, background: "#c00" } });
      expect((await put(await photo.jpeg().toBuffer(), "icon")).status).toBe(204);
      const sizes = await Promise.all(
        ["icon", "largeIcon"].map(async (kind) => {
          const bytes = await (await image(kind)).arrayBuffer();
          const { format, width, height } = await sharp(Buffer.from(bytes)).metadata();
          return { format, width, height };
        }),
      );
      expect(sizes).toEqual([
        { format: "png", width: 64, height: 64 },
        { format: "png", width: 512, height: 512 },
      ]);
      expect((await put(svg('<circle cx="5" cy="5" r="5"/>'), "icon")).status).toBe(204);
      expect((await image("icon")).headers.get("Content-Type")).toBe("image/svg+xml");
      expect((await image("largeIcon")).headers.get("Content-Type")).toBe("image/png");
    });
  });
}
