import { data, redirect } from "react-router";
import { v7 as newId } from "uuid";
import { z } from "zod";
import { named } from "../../ui/navigation/page-title.ts";
import { read } from "../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../web/context.ts";
import { getCurrentUser } from "../../web/current-user.server.ts";
import { sendFields, textOf } from "../../web/forms/form.server.ts";
import type { Route } from "./+types/page";
import { renderBody } from "./body.server.ts";
import { EmailForm, SentEmail } from "./email-form.tsx";
import { homeSlug, pathOf } from "./paths.ts";

/** Pages that carry a form, and the mailbox that the form writes to. */
const forms: Record<string, "contact" | "support"> = { contacto: "contact", soporte: "support" };

export async function loader({ context, params: { slug = homeSlug }, url }: Route.LoaderArgs) {
  if (url.pathname === `/${homeSlug}`) throw redirect("/", 301);
  const filter = JSON.stringify({ slug, published: true });
  const { items } = await read(context.get(apiContext).api.page.$get({ query: { filter } }));
  const [page] = items;
  if (!page) throw data(null, 404);
  const person = forms[slug] ? await getCurrentUser(context) : null;
  return {
    title: page.title,
    description: page.description,
    address: url.origin + pathOf(page.slug),
    isHome: page.slug === homeSlug,
    body: await renderBody(page.slug, page.body, context.get(sessionContext).signedIn),
    form: forms[slug] && {
      action: pathOf(page.slug),
      sendKey: newId(),
      name: person?.user.name,
      email: person?.user.email,
    },
  };
}

const fields = z.object({
  name: z.string().default(""),
  email: z.string().default(""),
  message: z.string().default(""),
  key: z.string().optional(),
});

export async function action({ context, params: { slug = "" } }: Route.ActionArgs) {
  const kind = forms[slug];
  if (!kind) throw data(null, 404);
  const { email } = context.get(apiContext).api;
  return sendFields(context, fields, async (json) => {
    // People don't see this field: only a program fills it in, and gets the same answer as a person.
    if (textOf(context.get(formContext), "web")) return { sent: json };
    return { sent: await read(email[kind].$post({ json })) };
  });
}

export const meta: Route.MetaFunction = ({ loaderData: page, matches }) => {
  if (!page) return named(matches, "Página no encontrada");
  const { name } = matches[0].loaderData.house;
  return [
    ...(page.isHome ? [{ title: `${name}: ${page.title}` }] : named(matches, page.title)),
    { name: "description", content: page.description },
    { tagName: "link", rel: "canonical", href: page.address },
    { property: "og:type", content: "website" },
    { property: "og:site_name", content: name },
    { property: "og:locale", content: "es_ES" },
    { property: "og:title", content: page.title },
    { property: "og:description", content: page.description },
    { property: "og:url", content: page.address },
  ];
};

export default function Page({ loaderData, actionData }: Route.ComponentProps) {
  const { title, isHome, body, form } = loaderData;
  const sent = actionData && "sent" in actionData ? actionData.sent : undefined;
  const result = actionData && "errors" in actionData ? actionData : undefined;
  if (isHome) return <Home title={title} body={body} />;
  return (
    <main className="leaf hang plain-page" id="contenido">
      <h1 className="public-title">{title}</h1>
      {sent ? (
        <SentEmail {...sent} />
      ) : (
        <>
          <Html className="prose" html={body.lead} />
          {body.sections.map((section) => (
            <section key={section.title} className="prose">
              <h2 dangerouslySetInnerHTML={{ __html: section.title }} />
              <Html html={section.html} />
            </section>
          ))}
          {form && <EmailForm {...form} result={result} />}
        </>
      )}
    </main>
  );
}

function Home({ title, body }: Pick<Route.ComponentProps["loaderData"], "title" | "body">) {
  return (
    <main className="leaf home" id="contenido">
      <section className="hero hang">
        <h1 className="public-title">{title}</h1>
        <Html className="lead" html={body.lead} />
      </section>
      {body.sections.map((section) => (
        <section key={section.title} className="part hang">
          <h2 className="name" dangerouslySetInnerHTML={{ __html: section.title }} />
          <Html html={section.html} />
        </section>
      ))}
    </main>
  );
}

/** Safe: the HTML comes from our own Markdown renderer, which lets no raw HTML through. */
function Html({ className, html }: { className?: string; html: string }) {
  return <div className={className} dangerouslySetInnerHTML={{ __html: html }} />;
}
