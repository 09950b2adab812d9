import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

type Options = { ticket: string; options: never };

/** Signs in by a passkey of this device. Returns a sentence about the failure; undefined once the session is open. */
export async function enterByPasskey(formToken: string): Promise<string | undefined> {
  try {
    const { ticket, options } = await ask("/auth/llave/entrar", { formToken });
    const response = await startAuthentication({ optionsJSON: options });
    await ask("/auth/llave/entrar", { formToken, ticket, response: JSON.stringify(response) });
    return undefined;
  } catch (error) {
    return sentenceFor(error);
  }
}

/** Makes a passkey on this device. Returns the fields to send with the form that names it, or a sentence about the failure. */
export async function makePasskey(formToken: string): Promise<{ ticket: string; response: string } | string> {
  try {
    const { ticket, options } = await ask("/user/llaves/opciones", { formToken });
    return { ticket, response: JSON.stringify(await startRegistration({ optionsJSON: options })) };
  } catch (error) {
    return sentenceFor(error);
  }
}

class Refused extends Error {}

async function ask(address: string, fields: Record<string, string>): Promise<Options> {
  const answer = await fetch(address, { method: "POST", body: new URLSearchParams(fields) });
  const body: Options & { message?: string } = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(body.message ?? "La sesión ha cambiado. Recarga la página y vuelve a intentarlo.");
  return body;
}

function sentenceFor(error: unknown): string {
  if (error instanceof Refused) return error.message;
  const name = error instanceof Error ? error.name : "";
  if (name === "InvalidStateError") return "Este dispositivo ya tiene una llave de tu cuenta.";
  if (name === "NotAllowedError") return "No se ha usado ninguna llave: se canceló, o pasó el tiempo.";
  if (name === "TypeError") return "No se ha podido conectar con el servidor. Vuelve a intentarlo.";
  return "Este navegador no puede usar llaves de acceso aquí: hacen falta https y un dispositivo con bloqueo.";
}
