import { isOwnResource } from "../../../http/oauth-resource.server.ts";

/** A program's request for a person's permission (OAuth 2.1, 4.1.1), as its address has it. */
export type Asked = { client_id: string; redirect_uri: string; code_challenge: string; onlyReads: boolean };

/** The request in an address, or the sentence that says why there is none. */
export function askedIn({ searchParams, origin }: URL): Asked | { refusal: string } {
  const { response_type, code_challenge_method, ...given } = Object.fromEntries(searchParams);
  const { client_id = "", redirect_uri = "", code_challenge = "", resource, scope } = given;
  if (!client_id || !redirect_uri) return { refusal: "Aquí se llega desde un programa que pide permiso." };
  if (response_type !== "code" || code_challenge_method !== "S256" || !code_challenge) {
    return {
      refusal: "El programa pide el permiso de una manera que aquí no se da: hace falta un código con PKCE (S256).",
    };
  }
  if (resource !== undefined && !isOwnResource(resource, origin)) {
    return { refusal: `El programa pide permiso para ${resource}, que no es esta casa.` };
  }
  return { client_id, redirect_uri, code_challenge, onlyReads: scope === "read" };
}

/** The address of a program with the answer to its request. */
export function answerTo({ searchParams, origin }: URL, answer: { code: string } | { error: string }): string {
  const there = new URL(searchParams.get("redirect_uri") ?? "");
  const state = searchParams.get("state");
  for (const [name, value] of Object.entries({ ...answer, ...(state !== null && { state }), iss: origin })) {
    there.searchParams.set(name, value);
  }
  return there.href;
}
