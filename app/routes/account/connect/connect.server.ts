import { isOwnResource } from "../../../http/oauth-resource.server.ts";

/** A program's request for a person's permission (OAuth 2.1, 4.1.1), as its address has it. */
export type ConsentAsked = {
  client_id: string;
  redirect_uri: string;
  code_challenge: string;
  onlyReads: boolean;
  state: string | undefined;
};

/** The request in an address, or the sentence that says why there is none. */
export function askedIn({ searchParams, origin }: URL): ConsentAsked | { refusal: string } {
  // A parameter that stands there twice is ambiguous, so it is refused (RFC 6749, 3.1); several resources may be named (RFC 8707).
  const names = [...searchParams.keys()].filter((name) => name !== "resource");
  if (new Set(names).size < names.length) return { refusal: "El programa dice dos veces lo mismo en lo que pide." };
  const given = Object.fromEntries(searchParams);
  const { client_id = "", redirect_uri = "", code_challenge = "", state, scope } = given;
  if (!client_id || !redirect_uri) return { refusal: "Aquí se llega desde un programa que pide permiso." };
  if (given.response_type !== "code" || given.code_challenge_method !== "S256" || !code_challenge) {
    return {
      refusal: "El programa pide el permiso de una manera que aquí no se da: hace falta un código con PKCE (S256).",
    };
  }
  const foreign = searchParams.getAll("resource").find((resource) => !isOwnResource(resource, origin));
  if (foreign !== undefined) return { refusal: `El programa pide permiso para ${foreign}, que no es esta casa.` };
  return { client_id, redirect_uri, code_challenge, onlyReads: scope === "read", state };
}

/** The address of a program with the answer to its request; `origin`: of this house. */
export function answerTo(
  { redirect_uri, state }: ConsentAsked,
  origin: string,
  answer: { code: string } | { error: string },
): string {
  const there = new URL(redirect_uri);
  for (const [name, value] of Object.entries({ ...answer, ...(state !== undefined && { state }), iss: origin })) {
    there.searchParams.set(name, value);
  }
  return there.href;
}
