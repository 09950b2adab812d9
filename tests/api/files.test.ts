import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readMultipart } from "../../app/http/multipart.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

type Shown = { id: string; name: string; mediaType: string; hasText: boolean; pages: number | null; width: number };
type Uploaded = { items: Shown[]; refused: { name: string; reason: string }[] };

const document = (name: string, as = name) =>
  new File([readFileSync(new URL(`../documents/${name}`, import.meta.url))], as);
const text = (content: string | Uint8Array<ArrayBuffer>, name: string) => new File([content], name);
const picture = async (width = 40, height = 20) =>
  new Uint8Array(
    await sharp({ create: { width, height, channels: 4, background: { r: 200, g: 0, b: 0, alpha: 0.5 } } })
      .withExif({ IFD0: { Copyright: "secreto-exif" } })
      .png()
      .toBuffer(),
  );

/** A PNG whose header says that it is enormous. */
function enormous(): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(25);
  header.writeUInt32BE(13, 0);
  header.write("IHDR", 4);
  header.writeUInt32BE(50_000, 8);
  header.writeUInt32BE(50_000, 12);
  header.set([8, 2, 0, 0, 0], 16);
  header.writeUInt32BE(crc(header.subarray(4, 21)), 21);
  const data = deflateSync(Buffer.alloc(1000));
  const body = Buffer.alloc(data.length + 12);
  body.writeUInt32BE(data.length, 0);
  body.write("IDAT", 4);
  data.copy(body, 8);
  body.writeUInt32BE(crc(body.subarray(4, 8 + data.length)), 8 + data.length);
  return new Uint8Array(Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), header, body]));
}

function crc(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** A PDF, made of its objects from 1 on; the first is its root. */
function pdf(...objects: (string | Buffer)[]): Uint8Array<ArrayBuffer> {
  const parts = objects.flatMap((object, index) => [`${index + 1} 0 obj\n`, object, "\nendobj\n"]);
  const bytes = ["%PDF-1.7\n", ...parts, "trailer <</Root 1 0 R>>\n%%EOF"].map((part) => Buffer.from(part));
  return new Uint8Array(Buffer.concat(bytes));
}

/** A PDF of six thousand pages with nothing on them. */
function pageBomb(): Uint8Array<ArrayBuffer> {
  const pages = Array.from({ length: 6000 }, () => "<</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99]>>");
  const kids = pages.map((_, index) => `${index + 3} 0 R`).join(" ");
  const tree = `<</Type /Pages /Count ${pages.length} /Kids [${kids}]>>`;
  return pdf("<</Type /Catalog /Pages 2 0 R>>", tree, ...pages);
}

for (const engine of await ruleEngines()) {
  describe(`files on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    let berta: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
    });
    afterAll(() => api.close());

    const upload = async (...sent: File[]) => (await api.upload(ana.token, sent)).body as Uploaded;
    /** Why a file can't be read that the machine has taken longer over than an upload waits. */
    async function problemOf(file: Shown | undefined): Promise<string> {
      const read = async () => (await api.call("GET", `/api/file/${file?.id}`, { token: ana.token })).body;
      await expect.poll(read, { timeout: 60_000 }).toMatchObject({ state: "unread" });
      return ((await read()) as { problem: string }).problem;
    }
    const one = async (sent: File) => (await upload(sent)).items[0] as Shown;

    it("reads PDF, DOCX and CSV with passages in order", async () => {
      const { items } = await upload(
        document("informe.pdf"),
        document("carta.docx"),
        text(Buffer.from("a\xf1o;pi\xf1as\n2026;12\n", "latin1"), "cosecha.csv"),
      );
      expect(items.map(({ mediaType, hasText, pages }) => ({ mediaType, hasText, pages }))).toEqual([
        { mediaType: "application/pdf", hasText: true, pages: 3 },
        {
          mediaType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
          hasText: true,
          pages: null,
        },
        { mediaType: "text/csv", hasText: true, pages: null },
      ]);
      const passages = async (file: Shown | undefined) =>
        (
          (await api.call("GET", `/api/file/${file?.id}/passages`, { token: ana.token })).body as {
            items: { position: number; page: number | null; text: string }[];
          }
        ).items;
      const report = await passages(items[0]);
      expect(report.map(({ position }) => position)).toEqual(report.map((_, index) => index));
      expect(report.find(({ page }) => page === 3)?.text).toContain("riego por goteo");
      expect((await passages(items[1]))[0]?.text).toContain("Estimada directora");
      expect((await passages(items[2]))[0]?.text).toBe("año | piñas\n2026 | 12");
    });

    it("rereads a document without text, for its owner only", async () => {
      const { id } = await one(document("carta.docx"));
      await api.db.deleteFrom("passages").where("fileId", "=", id).execute();
      await api.db.updateTable("files").set({ text: "" }).where("id", "=", id).execute();
      const again = (token: string) => api.call("POST", `/api/file/${id}/reading`, { token });
      expect((await again(berta.token)).status).toBe(404);
      expect(await again(ana.token)).toMatchObject({ status: 202, body: { state: "reading" } });
      expect(await again(ana.token)).toMatchObject({
        status: 409,
        body: { detail: "Este archivo ya se está leyendo." },
      });
      const read = () => api.call("GET", `/api/file/${id}`, { token: ana.token });
      await expect.poll(read, { timeout: 20_000 }).toMatchObject({ body: { state: "ready", hasText: true } });
      const { body } = await api.call("GET", `/api/file/${id}/passages`, { token: ana.token });
      expect((body as { items: { text: string }[] }).items[0]?.text).toContain("Estimada directora");
    });

    it("re-encodes images without metadata and keeps the original", async () => {
      const file = await one(text(await picture(2000, 1000), "foto.png"));
      expect(file).toMatchObject({ mediaType: "image/png", width: 2000 });
      const get = (variant: string) => api.fetch(`/api/file/${file.id}/content?variant=${variant}`, ana.token);
      const image = await get("image");
      expect(image.headers.get("Content-Type")).toBe("image/jpeg");
      expect(image.headers.get("Content-Disposition")).toBe("inline");
      const bytes = Buffer.from(await image.arrayBuffer());
      expect(bytes.includes("secreto-exif")).toBe(false);
      expect(await sharp(bytes).metadata()).toMatchObject({ format: "jpeg", width: 1568, height: 784 });
      const original = await get("original");
      expect(original.headers.get("Content-Disposition")).toContain('attachment; filename="foto.png"');
      expect(Buffer.from(await original.arrayBuffer()).includes("secreto-exif")).toBe(true);
      expect(original.headers.get("Content-Security-Policy")).toContain("sandbox");
    });

    it("serves no text as a page, whatever it holds", async () => {
      const file = await one(text("<script>alert(1)</script>", "trampa.html"));
      const answer = await api.fetch(`/api/file/${file.id}/content`, ana.token);
      expect(answer.headers.get("Content-Type")).toBe("text/plain");
      expect(answer.headers.get("Content-Disposition")).toMatch(/^attachment/);
      expect((await api.fetch(`/api/file/${file.id}/content?variant=image`, ana.token)).status).toBe(404);
    });

    it.each<[string, () => File | Promise<File>, RegExp]>([
      ["an SVG", () => text('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "dibujo.png"), /SVG/],
      ["HTML named .png", () => text("<html><script>1</script></html>", "foto.png"), /por dentro es otra cosa/],
      ["an enormous header", () => text(enormous(), "lunes.png"), /píxeles/],
      ["a PDF of too many pages", () => text(pageBomb(), "libro.pdf"), /más de 5000 páginas/],
      ["a PDF with a password", () => document("con-clave.pdf"), /contraseña/],
      [
        "half a PDF",
        () => text(readFileSync(new URL("../documents/informe.pdf", import.meta.url)).subarray(0, 3000), "medio.pdf"),
        /dañado/,
      ],
      ["half an image", async () => text((await picture()).slice(0, 60), "media.png"), /dañada/],
      ["an empty file", () => text("", "nada.txt"), /vacío/],
      ["a name that points elsewhere", () => text("hola", "../../etc/passwd"), /su nombre/],
      ["a name of 300 letters", () => text("hola", `${"a".repeat(296)}.txt`), /300 letras/],
      ["a file of 21 MB", () => text("x".repeat(21 * 1024 * 1024), "grande.txt"), /más de 20 MB/],
      [
        "an image of 11 MB",
        async () => text(new Uint8Array([...(await picture()), ...new Uint8Array(11_000_000)]), "gorda.png"),
        /más de 10 MB/,
      ],
      ["a program", () => text(new Uint8Array([0x4d, 0x5a, 0x90, 0, 3, 0, 0, 0]), "hola.exe"), /no (es|se sabe)/],
    ])("refuses %s by name with the reason, and keeps the others", async (_, make, reason) => {
      const bad = await make();
      const { items, refused } = await upload(text("Apuntes", "apuntes.txt"), bad);
      const [notes, ...others] = items;
      expect(notes?.name).toBe("apuntes.txt");
      expect(refused[0]?.reason ?? (await problemOf(others[0]))).toMatch(reason);
      const alone = await api.upload(ana.token, [bad]);
      const { errors, items: kept } = alone.body as Uploaded & { errors?: Record<string, string> };
      expect(errors?.["files.0"] ?? (await problemOf(kept[0]))).toMatch(reason);
      expect(alone.status).toBe(errors ? 422 : 201);
    });

    it("keeps names without what turns writing round or ends it", async () => {
      expect((await one(text("hola", "factura\u202Efdp.txt"))).name).toBe("facturafdp.txt");
      expect((await one(text("hola", "fac\0tura.txt"))).name).toBe("factura.txt");
    });

    it("encodes any file name safely in the download header", async () => {
      const name = `a"; filename="otro.exe";\u00f1 %0d%0aX-Otra: 1'(*).txt`;
      const file = await one(text("hola", name));
      const { headers } = await api.fetch(`/api/file/${file.id}/content`, ana.token);
      const said = headers.get("Content-Disposition") ?? "";
      expect(said).toMatch(/^attachment; filename="[\w .-]+"; filename\*=UTF-8''[\w.%!~-]+$/);
      expect(decodeURIComponent(said.split("''")[1] ?? "")).toBe(file.name);
      expect(headers.get("X-Otra")).toBeNull();
    });

    it("refuses other people reading, deleting or uploading for the owner", async () => {
      const file = await one(text("Es de Ana", "secreto.txt"));
      for (const path of ["", "/passages", "/content"]) {
        expect((await api.call("GET", `/api/file/${file.id}${path}`, { token: berta.token })).status).toBe(404);
        expect((await api.call("GET", `/api/file/${file.id}${path}`)).status).toBe(401);
      }
      expect((await api.call("DELETE", `/api/file/${file.id}`, { token: berta.token })).status).toBe(404);
      expect((await api.upload(berta.token, [text("x", "x.txt")], { userId: ana.id })).status).toBe(422);
      expect((await api.upload("", [text("x", "x.txt")])).status).toBe(401);
      const list = (await api.call("GET", "/api/file", { token: berta.token })).body as { total: number };
      expect(list.total).toBe(0);
    });

    it("deletes bytes and passages with file, project and account", async () => {
      const carla = await api.signUp("Carla");
      const project = (await api.call("POST", "/api/project", { token: carla.token, json: { name: "Huerto" } }))
        .body as { id: string };
      const send = async (name: string, fields = {}) =>
        ((await api.upload(carla.token, [text("riego", name)], fields)).body as Uploaded).items[0]?.id ?? "";
      const ids = [await send("a.txt"), await send("b.txt", { projectId: project.id }), await send("c.txt")];
      const left = async () => {
        const stored = await Promise.all(
          ids.map((id) => api.services.storage.read(id, "original").then((bytes) => (bytes ? 1 : 0))),
        );
        const rows = await api.db.selectFrom("passages").where("fileId", "in", ids).select("seq").execute();
        return [stored.join(""), rows.length];
      };
      expect(await left()).toEqual(["111", 3]);
      await api.call("DELETE", `/api/file/${ids[0]}`, { token: carla.token });
      expect(await left()).toEqual(["011", 2]);
      await api.call("DELETE", `/api/project/${project.id}`, { token: carla.token });
      expect(await left()).toEqual(["001", 1]);
      const json = { currentPassword: "una frase larga y rara" };
      await api.call("DELETE", `/api/user/${carla.id}`, { token: carla.token, json });
      expect(await left()).toEqual(["000", 0]);
    });

    it("says of a document that only its beginning was read", async () => {
      const read = async (length: number) => {
        const sent = await api.upload(ana.token, [text("Una línea de texto.\n".repeat(length / 20), "largo.txt")]);
        return (sent.body as { items: { cut: boolean }[] }).items[0]?.cut;
      };
      expect([await read(1_000_000), await read(2_100_000)]).toEqual([false, true]);
    });

    it("enforces the plan's storage, also for simultaneous uploads", async () => {
      const dora = await api.signUp("Dora");
      await api.db.updateTable("subscriptions").set({ storageMb: 1 }).where("userId", "=", dora.id).execute();
      const big = () => api.upload(dora.token, [text("x".repeat(700_000), "grande.txt")]);
      const answers = await Promise.all([big(), big()]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
      expect(answers.find(({ status }) => status === 422)?.text).toContain("no cabe en los 1 MB");
    });

    it("sweeps what was not sent within a day", async () => {
      const [temporary, kept] = await Promise.all(
        ([{ temporary: "1" }, {}] as Record<string, string>[]).map(
          async (fields) =>
            ((await api.upload(ana.token, [text("hola", "x.txt")], fields)).body as Uploaded).items[0]?.id ?? "",
        ),
      );
      await api.db
        .updateTable("files")
        .set({ createdAt: 1 })
        .where("id", "in", [temporary, kept] as string[])
        .execute();
      await api.services.files.sweep();
      const status = async (id = "") => (await api.call("GET", `/api/file/${id}`, { token: ana.token })).status;
      expect([await status(temporary), await status(kept)]).toEqual([404, 200]);
    });

    it("leaves nothing behind of an upload that breaks off", async () => {
      const dir = mkdtempSync(join(tmpdir(), "tertulia-prueba-"));
      const before = process.env.TMPDIR;
      process.env.TMPDIR = dir;
      try {
        const head = '--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n';
        const broken = new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(head + "x".repeat(100_000)));
          },
          pull(controller) {
            controller.error(Object.assign(new Error("cut"), { code: "ECONNRESET" }));
          },
        });
        const request = new Request("http://api/", {
          method: "POST",
          headers: { "Content-Type": "multipart/form-data; boundary=x" },
          body: broken,
          duplex: "half",
        } as RequestInit);
        await expect(readMultipart(request, { maxFields: 10, maxFile: 1_000_000, by: "ana" })).rejects.toThrow("cut");
        expect(readdirSync(dir)).toEqual([]);
      } finally {
        if (before === undefined) delete process.env.TMPDIR;
        else process.env.TMPDIR = before;
        rmSync(dir, { recursive: true });
      }
    });

    it("reads blanks without end in no time", async () => {
      const file = await one(text(`a${" \t".repeat(1_000_000)}b`, "blancos.txt"));
      expect(file.hasText).toBe(true);
    });

    it.each([
      ["no multipart", "application/json", "{}", 415],
      ["a broken multipart", "multipart/form-data; boundary=x", "--x\r\nContent-Dis", 400],
      ["no boundary", "multipart/form-data", "hola", 400],
      ["no file", "multipart/form-data; boundary=x", "--x--\r\n", 422],
    ])("answers %s with a sentence", async (_, type, body, status) => {
      const answer = await api.call("POST", "/api/file/uploads", {
        token: ana.token,
        json: body,
        headers: { "Content-Type": type },
      });
      expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
        status,
        expect.stringMatching(/\.$/),
      ]);
    });
  });
}
