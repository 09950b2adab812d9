import { redirect } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { momentInWords } from "../../../process/time-zones.server.ts";
import { Field, SelectField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import { OwnLeaf } from "../own-list.tsx";
import type { Route } from "./+types/rooms";
import { RoomFields } from "./room-fields.tsx";
import { boundFields, boundsOf } from "./room-form.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Salas");

export async function loader({ context, request }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const { user } = await requireUser(context);
  const query = { limit: String(limits.listMax) };
  const [{ items }, { refusal }, assistants, zone] = await Promise.all([
    read(api.room.$get({ query: { ...query, filter: JSON.stringify({ userId: user.id }) } })),
    read(api.room.opening.$get()),
    read(api.assistant.$get({ query })),
    zoneOfPerson(context, request),
  ]);
  const now = Date.now();
  return {
    rooms: items.map((room) => {
      const ends = Date.parse(room.endsAt);
      const until = ends > now ? `hasta ${momentInWords(ends, now, zone)}` : "terminada";
      const { id, name, joined, asked } = room;
      return {
        id,
        name,
        line: `${room.isOpen ? until : "cerrada"} · ${count(joined, "persona")} · ${count(asked, "pregunta")}`,
      };
    }),
    refusal,
    assistants: assistants.items.map(({ id, name }) => ({ id, name })),
  };
}

const count = (n: number, noun: string) => `${n.toLocaleString("es")} ${noun}${n === 1 ? "" : "s"}`;

const fields = z.object({
  name: z.string().default(""),
  assistantId: z.string().default(""),
  showsTexts: z.string().default(""),
  ...boundFields,
});

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ name, assistantId, showsTexts, ...typed }) => {
    const json = { name, assistantId, showsTexts: showsTexts !== "", endsAt: "", ...boundsOf(typed) };
    const { id } = await read(context.get(apiContext).api.room.$post({ json }));
    return redirect(`/conversation/sala/${id}`, 303);
  });

/** A person's rooms, and the form that opens one. */
export default function Rooms({ loaderData: { rooms, refusal, assistants }, actionData }: Route.ComponentProps) {
  return (
    <OwnLeaf
      back={["/conversation/assistant", "Volver a los asistentes"]}
      title="Salas"
      about="En una sala, quien tenga su enlace habla con un asistente tuyo sin cuenta: una clase, un mostrador, un taller. Cada persona tiene su conversación, que nadie más ve y que se borra con la sala. Todo cuenta en tu plan."
      at="/conversation/sala"
      rows={rooms}
    >
      <h2 className="mt-8">Abrir una sala</h2>
      {refusal ? (
        <p className="mt-3">{refusal}</p>
      ) : assistants.length === 0 ? (
        <p className="mt-3">
          Hace falta un asistente, con sus instrucciones y sus documentos.{" "}
          <a href="/conversation/assistant/crear">Crear asistente</a>
        </p>
      ) : (
        <PostForm className="fields mt-4">
          <Fields id="sala" result={actionData ?? undefined}>
            <Field
              name="name"
              label="Nombre"
              hint="Lo ve quien entra: «Historia, 3.º B»."
              required
              maxLength={limits.name}
            />
            <SelectField name="assistantId" label="Asistente" choices={assistants} />
            <RoomFields />
            <SelectField
              name="showsTexts"
              label="Lo que se escriba"
              hint="Se le dice a cada persona antes de entrar, y después no se cambia."
              defaultValue={actionData?.values.showsTexts ?? ""}
              choices={[
                { id: "", name: "No lo leo: veo solo cuánto se pregunta" },
                { id: "si", name: "Lo leo, hasta que se borre la sala" },
              ]}
            />
          </Fields>
          <div className="buttons">
            <button type="submit" className="button primary">
              Abrir la sala
            </button>
          </div>
        </PostForm>
      )}
    </OwnLeaf>
  );
}
