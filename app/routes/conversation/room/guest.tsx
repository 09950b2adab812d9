import { redirect } from "react-router";
import { z } from "zod";
import { named } from "../../../ui/navigation/page-title.ts";
import { Wordmark } from "../../../ui/wordmark.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { zoneOfPerson } from "../../../web/house.server.ts";
import type { Route } from "./+types/guest";
import { Entrance } from "./entrance.tsx";
import { asGuest, checkCode, conversationOf, keepGuest, roomOf } from "./guest-session.server.ts";
import { roomShown, talkOf } from "./guest-shown.server.tsx";
import { Talk } from "./talk.tsx";

export const meta: Route.MetaFunction = ({ loaderData, matches }) => [
  ...named(matches, loaderData?.room.name ?? "Sala"),
  // Anybody with the address may come in; search engines must not list it.
  { name: "robots", content: "noindex" },
];

export async function loader({ context, params: { code }, request, url }: Route.LoaderArgs) {
  checkCode(code);
  const before = url.searchParams.get("antes") ?? undefined;
  const [conversation, zone] = await Promise.all([
    conversationOf(context, code, request, before),
    zoneOfPerson(context, request),
  ]);
  const room = conversation ?? (await roomOf(context, code));
  return {
    room: roomShown(room, zone),
    talk: conversation && (await talkOf(context, code, request, conversation)),
  };
}

const fields = z.object({
  does: z.enum(["enter", "ask", "again", "stop", "leave"]),
  name: z.string().default(""),
  content: z.string().default(""),
  key: z.string().default(""),
  messageId: z.string().default(""),
});

export const action = ({ context, params: { code }, request }: Route.ActionArgs) => {
  checkCode(code);
  return sendFields(context, fields, async ({ does, name, content, key, messageId }) => {
    const { guest } = context.get(apiContext).api;
    const at = `/sala/${code}`;
    if (does === "enter") {
      // Somebody who has gone back and enters again is already in the room.
      if (await conversationOf(context, code, request)) return redirect(at, 303);
      const entered = await read(guest.room[":code"].$post({ param: { code }, json: { name, ...(key && { key }) } }));
      return redirect(at, { status: 303, headers: { "Set-Cookie": await keepGuest(code, request, entered.token) } });
    }
    const header = await asGuest(code, request);
    if (does === "stop") await accepted(guest.stop.$post({ header }));
    if (does === "leave") {
      await accepted(guest.$delete({ header }));
      const gone = await keepGuest(code, request, "");
      return redirect(`${at}?salida`, { status: 303, headers: { "Set-Cookie": gone } });
    }
    if (does !== "ask" && does !== "again") return redirect(`${at}#final`, 303);
    const json = does === "ask" ? { content, ...(key && { key }) } : { again: messageId };
    const started = await read(guest.message.$post({ header, json }));
    return redirect(`${at}#m-${started.messageId}`, 303);
  });
};

/** A room for anybody with its address: the entrance, then the guest's conversation with the assistant. No script takes part. */
export default function GuestPage({ loaderData: { room, talk }, actionData, params: { code } }: Route.ComponentProps) {
  const result = actionData ?? undefined;
  return (
    <main className="room" id="contenido">
      <p>
        <Wordmark />
      </p>
      <h1 className="mt-4">{room.name}</h1>
      <p className="mt-2 text-text-2">
        {`${talk?.guest ? `${talk.guest}, hablas` : "Se habla"} con ${room.assistant}. Abierta por ${room.host} hasta ${room.until}.`}
      </p>
      {talk ? <Talk code={code} room={room} talk={talk} result={result} /> : <Entrance room={room} result={result} />}
    </main>
  );
}
