import { data, redirect } from "react-router";
import { ApiProblem } from "../api-result.server.ts";
import { type Context, sessionContext } from "../context.ts";
import { safeReturn } from "../safe-return.server.ts";
import { uncarry } from "./carried-form.ts";

/**
 * A form that was refused although nothing is wrong with it: its page was too old (403), its session had ended (401) or the
 * API was unreachable (503). Thrown to the error page, which sends it again; after 401, the sign-in form carries it first.
 */
export type UnsentForm = {
  /** The token that is valid now. */
  formToken: string;
  /** The person who is signed in now, if anybody is. */
  personId: string | null;
  /** Typed values, without files and secrets. */
  fields: [string, string][];
  /** The local path that the form was sent to. */
  action: string;
  message?: string;
  /** After 401: how people come in here. */
  entries?: Entries;
};

/** The ways in: by a password, and by providers. */
export type Entries = { password: boolean; accesses: { id: string; name: string }[] };

// Paths of consents. A person gives a consent on a page that names its object and the person, so a consent's form is never sent again.
const consents = /^\/user\/(?:conectar|cuentas)\b/;

/** Thrown for a form that was not acted on; for a consent, a redirect to its page. */
export const unsent = (
  status: 401 | 403 | 503,
  context: Context,
  form: FormData,
  rest: Pick<UnsentForm, "action"> & Partial<UnsentForm>,
) => {
  if (consents.test(rest.action)) return redirect(rest.action, 303);
  return data<UnsentForm>(
    {
      formToken: context.get(sessionContext).formToken,
      personId: null,
      fields: Object.entries(typedFields(form)),
      ...rest,
    },
    status,
  );
};

/** For `catch`: where the API could not tell who sent a form, what is thrown carries the form. Any other error is thrown as it is. */
export const carrying =
  (context: Context, form: FormData, action: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiProblem) || error.status !== 503) throw error;
    throw unsent(503, context, form, { action, message: error.body.detail });
  };

const secret = /(^|\.)(formToken|code|secret|apiKey|ticket|stay)$|password/i;

/** Values typed into a form, without its token, files, passwords and codes: these never come back in a page. */
export function typedFields(form: FormData): Record<string, string> {
  return Object.fromEntries(
    [...form].filter((field): field is [string, string] => !secret.test(field[0]) && typeof field[1] === "string"),
  );
}

/** The unsent form that a sign-in form carries, if it has one for a path of this site. */
export function carriedIn(form: FormData): Pick<UnsentForm, "fields" | "action"> | undefined {
  const carried = uncarry(Object.entries(typedFields(form)));
  if (!carried || consents.test(carried.action)) return undefined;
  return safeReturn(carried.action) === carried.action ? carried : undefined;
}
