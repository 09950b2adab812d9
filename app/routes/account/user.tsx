import { Link, redirect, useOutlet } from "react-router";
import { z } from "zod";
import { Callout } from "../../ui/callout.tsx";
import { barPlot } from "../../ui/figures/plot.server.ts";
import { sendForm } from "../../ui/forms/send-form.ts";
import { Icon } from "../../ui/icon.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { showSeen } from "../../ui/navigation/pages-seen.ts";
import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import { mayWork, requireUser } from "../../web/current-user.server.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import { sendToOwed } from "../../web/guards.server.ts";
import { zoneOfPerson } from "../../web/house.server.ts";
import { showUse } from "../../web/plan-use-in-words.server.ts";
import type { Route } from "./+types/user";
import { AccountPage, Section } from "./account-page.tsx";
import { costsInWords } from "./costs.server.ts";
import { Costs } from "./costs.tsx";
import { mayUse } from "./may-use.server.ts";
import { MayUse } from "./may-use.tsx";
import { Profile } from "./profile.tsx";
import { Use } from "./use.tsx";

export const meta = titled("Tu cuenta");

export async function loader({ context, request, url }: Route.LoaderArgs) {
  const person = await requireUser(context);
  const { user, owesSecondStep } = person;
  sendToOwed({ owesTerms: false, owesSecondStep }, request, url);
  const { usage } = context.get(apiContext).api;
  const [{ days }, costs, listed] = await Promise.all([
    read(usage.$get({ query: {} })),
    read(usage.costs.$get()),
    mayWork(person) ? mayUse(context, person) : undefined,
  ]);
  return {
    user: { name: user.name, email: user.email, status: user.status, hasPassword: user.hasPassword },
    use: showUse(person, Date.now(), await zoneOfPerson(context, request)),
    plot: barPlot(days.map(({ day, messages }) => ({ day, values: [messages] }))),
    costs: costsInWords(costs),
    listed,
  };
}

const fields = z.object({
  name: z.string().default(""),
  email: z.string().default(""),
  currentPassword: z.string().optional(),
});

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    const { user } = await requireUser(context);
    await accepted(context.get(apiContext).api.user[":id"].$patch({ param: { id: user.id }, json }));
    context.get(sessionContext).flash({ type: "success", title: "Perfil guardado." });
    return redirect("/user", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function User({ loaderData: { user, use, plot, costs, listed }, actionData }: Route.ComponentProps) {
  const dialog = useOutlet();
  return (
    <AccountPage dialog={dialog}>
      {user.status === "inactive" ? (
        <div className="mt-6">
          <Callout type="warning">
            <p>
              Tu cuenta está inactiva. <Link to="/soporte">Escríbenos a soporte</Link> para reactivarla.
            </p>
          </Callout>
        </div>
      ) : (
        <p className="mt-6">
          <Link className="button" to="/conversation/chat">
            <Icon name="plus" />
            Empezar una conversación
          </Link>
        </p>
      )}
      <Section id="perfil" title="Perfil">
        <Profile key={user.email + user.name} user={user} result={actionData ?? undefined} />
      </Section>
      <Section id="memoria" title="Memoria">
        <p>
          <a href="/user/memoria">Lo que los modelos recuerdan de ti</a>, si quieres que recuerden algo.
        </p>
      </Section>
      <Section id="uso" title="Plan y uso">
        <Use use={use} plot={plot} />
      </Section>
      {costs && (
        <Section id="coste" title="Coste">
          <Costs {...costs} />
        </Section>
      )}
      {listed && (
        <Section id="permitido" title="Qué puedes usar">
          <MayUse listed={listed} />
        </Section>
      )}
    </AccountPage>
  );
}
