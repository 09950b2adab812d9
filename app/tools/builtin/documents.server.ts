import type { Db, Engine } from "../../db/engine.server.ts";
import { searchPassages } from "../../db/search/find.server.ts";
import type { Meanings } from "../../db/search/meaning.server.ts";
import type { Found, OwnTool } from "../tool.server.ts";
import { fieldText } from "./field-text.server.ts";

const passages = 6;
/** Name of the tool that finds only the asking person's own things. */
export const documentsTool = "buscar_en_mis_documentos";

type DocumentServices = { db: Db; engine: Engine; searchModel: Meanings };

/** «Buscar en mis documentos»: the same search that finds the sources of a question, so that a model can look again. */
export const documents = ({ db, engine, searchModel }: DocumentServices): OwnTool => ({
  tool: documentsTool,
  label: "Buscar en mis documentos",
  description:
    "Busca por palabras en los documentos que la persona ha subido y en los mensajes de sus otras conversaciones. Devuelve pasajes numerados; cítalos con su número entre corchetes.",
  schema: {
    type: "object",
    properties: { busqueda: { type: "string", title: "Búsqueda", description: "Las palabras que buscar" } },
    required: ["busqueda"],
  },
  reachesOut: true,
  async call({ busqueda }, { userId, messageId }) {
    const question = fieldText(busqueda).slice(0, 500);
    const hits = await searchPassages(db, engine, {
      question,
      meaning: await searchModel.meaningOf(question),
      owners: [userId],
      except: [messageId],
      messages: true,
      limit: passages,
    });
    const ids = (column: "chatId" | "fileId") => [...hits.map((hit) => hit[column] ?? ""), ""];
    const [chats, files] = await Promise.all([
      db.selectFrom("chats").where("id", "in", ids("chatId")).select(["id", "title"]).execute(),
      db.selectFrom("files").where("id", "in", ids("fileId")).select(["id", "name as title"]).execute(),
    ]);
    const titles = new Map([...chats, ...files].map(({ id, title }) => [id, title]));
    const found = hits.flatMap(({ fileId, chatId, messageId, position, page, text }): Found[] => {
      const title = titles.get(fileId ?? chatId ?? "");
      if (!title) return [];
      return [
        {
          kind: fileId ? "file" : "message",
          title: page ? `${title}, página ${page}` : title,
          quote: text,
          chatId,
          messageId,
          fileId,
          position: position === null ? null : Number(position),
        },
      ];
    });
    return { text: found.length > 0 ? "" : `No hay nada sobre «${question}» en los documentos.`, found };
  },
});
