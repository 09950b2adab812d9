import { redirect } from "react-router";
import { Fields } from "../../../ui/forms/fields.tsx";
import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { FormResult } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/entry-link";

export const meta = titled("Entrar");

/** The link is used only when its button is pressed: programs that look at links in advance must not use it up. */
export async function action({ context, params: { token } }: Route.ActionArgs): Promise<FormResult> {
  try {
    await accepted(context.get(apiContext).auth.link.$post({ json: { token } }));
  } catch (error) {
    return { values: {}, errors: {}, message: refusalIn(error, []).detail };
  }
  throw redirect("/user", 303);
}

export default function EntryLink({ actionData }: Route.ComponentProps) {
  return (
    <>
      <h1>Entrar con un enlace</h1>
      <form className="fields" method="post">
        <FormTokenField />
        <Fields id="enlace" result={actionData}>
          <p>Lo ha hecho quien aloja esta instalación, y se usa una vez.</p>
          <button type="submit" className="button primary">
            Entrar
          </button>
        </Fields>
      </form>
    </>
  );
}
