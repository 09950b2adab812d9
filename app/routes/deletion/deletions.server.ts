import { data } from "react-router";
import { cutText } from "../../process/text/cut-text.ts";
import type { Client } from "../../web/api-client.server.ts";
import { accepted, read } from "../../web/api-result.server.ts";

/** A kind of thing that is deleted on a page of its own. */
type Deletion = {
  /** Page under the dialog, which the deletion leads back to. */
  closeTo: string;
  title: string;
  /** The question, with the name of the thing. Throws 404 if the thing is not there. */
  asks(client: Client, id: string): Promise<string>;
  remove(client: Client, id: string): Promise<unknown>;
  done: string;
};

// In characters: a longer scheduled question is shown by its beginning.
const shown = 120;

/** Deletions by the pattern of their addresses in `routes.ts`. */
const deletions: Record<string, Deletion> = {
  "/conversation/template/:id/eliminar": {
    closeTo: "/conversation/template",
    title: "Eliminar plantilla",
    async asks({ api }, id) {
      const { title } = own(await read(api.template[":id"].$get({ param: { id } })));
      return `«${title}» se borrará. No se puede deshacer.`;
    },
    remove: ({ api }, id) => accepted(api.template[":id"].$delete({ param: { id } })),
    done: "Plantilla eliminada.",
  },
  "/conversation/assistant/:id/eliminar": {
    closeTo: "/conversation/assistant",
    title: "Eliminar asistente",
    async asks({ api }, id) {
      const { name } = own(await read(api.assistant[":id"].$get({ param: { id } })));
      return `«${name}» se borrará. Las conversaciones con él se quedan y siguen con su modelo. No se puede deshacer.`;
    },
    remove: ({ api }, id) => accepted(api.assistant[":id"].$delete({ param: { id } })),
    done: "Asistente eliminado.",
  },
  "/conversation/schedule/:id/eliminar": {
    closeTo: "/conversation/schedule",
    title: "Eliminar pregunta programada",
    async asks({ api }, id) {
      const { content } = await read(api.schedule[":id"].$get({ param: { id } }));
      const question = content.length > shown ? `${cutText(content, shown)}…` : content;
      return `«${question}» no se hará más. Las conversaciones que ya hay se quedan.`;
    },
    remove: ({ api }, id) => accepted(api.schedule[":id"].$delete({ param: { id } })),
    done: "La pregunta ya no se hace.",
  },
  "/user/file/:id/eliminar": {
    closeTo: "/user/file",
    title: "Eliminar archivo",
    async asks({ api }, id) {
      const { name } = await read(api.file[":id"].$get({ param: { id } }));
      return `«${name}» se borrará de aquí, de su proyecto y de los mensajes con los que se envió, que conservan su nombre. No se puede deshacer.`;
    },
    remove: ({ api }, id) => accepted(api.file[":id"].$delete({ param: { id } })),
    done: "Archivo eliminado.",
  },
  "/user/seguridad/claves/:id/eliminar": {
    closeTo: "/user/seguridad",
    title: "Eliminar clave",
    async asks({ api }, id) {
      const { name } = oneOf(await read(api.key.$get()), id);
      return `Los programas que usan «${name}» dejarán de poder entrar. No se puede deshacer.`;
    },
    remove: ({ api }, id) => accepted(api.key[":id"].$delete({ param: { id } })),
    done: "La clave está eliminada.",
  },
  "/user/seguridad/cuentas/:id/eliminar": {
    closeTo: "/user/seguridad",
    title: "Desconectar cuenta",
    async asks({ api }, id) {
      const drive = await driveAccount(api, id);
      if (drive)
        return `Los documentos de las carpetas que añadiste de «${drive.name}» se quitarán de aquí, y allí se quedan.`;
      const { name } = oneOf(await read(api["tool-account"].$get()), id);
      return `Los modelos no podrán usar más «${name}» con tu cuenta. Lo que ya trajeron se queda en tus conversaciones.`;
    },
    remove: async ({ api }, id) => {
      const accounts = (await driveAccount(api, id)) ? api["drive-account"] : api["tool-account"];
      return accepted(accounts[":id"].$delete({ param: { id } }));
    },
    done: "La cuenta está desconectada.",
  },
  "/user/seguridad/llaves/:id/eliminar": {
    closeTo: "/user/seguridad",
    title: "Eliminar llave de acceso",
    async asks({ auth }, id) {
      const { name } = oneOf(await read(auth.passkey.$get()), id);
      return `Con «${name}» ya no se podrá entrar. Bórrala después también del dispositivo que la guarda.`;
    },
    remove: ({ auth }, id) => accepted(auth.passkey[":id"].$delete({ param: { id } })),
    done: "La llave está eliminada.",
  },
  "/admin/sistema/copias/:id/eliminar": {
    closeTo: "/admin/sistema",
    title: "Eliminar copia",
    asks: async (_client, name) => `«${name}» se borrará del servidor. No se puede deshacer.`,
    remove: ({ api }, name) => accepted(api.system.backup[":name"].$delete({ param: { name } })),
    done: "La copia está borrada.",
  },
};

/** The deletion of an address. React Router's patterns begin with a slash or not, as their parents are nested. */
export function deletionAt(pattern: string): Deletion {
  const deletion = deletions[`/${pattern.replace(/^\//, "")}`];
  if (!deletion) throw new Error(`app/routes/deletion/deletions.server.ts says nothing of ${pattern}`);
  return deletion;
}

/** The thing, if the person may change it; other people's shared things can only be used. Throws 404. */
function own<Thing extends { mayChange: boolean }>(thing: Thing): Thing {
  if (!thing.mayChange) throw data(null, 404);
  return thing;
}

/** The person's account at the server of files with this id. */
async function driveAccount(api: Client["api"], id: string) {
  const { items } = await read(api["drive-account"].$get());
  return items.find((one) => one.id === id && one.username !== null);
}

function oneOf({ items }: { items: { id: string; name: string }[] }, id: string): { name: string } {
  const found = items.find((one) => one.id === id);
  if (!found) throw data(null, 404);
  return found;
}
