import { blank, inWords, type Processing } from "./in-words.server.ts";

/** A risk of the processing, and what this installation does against it as it is set. */
type Risk = { risk: string; measure: string };

/** Risks to people that conversations with models bring, each with what is set here against it. */
function risksOf({ recipients, security, kept }: Processing): Risk[] {
  const models = recipients.filter(({ kind }) => kind === "model");
  const tools = recipients.filter(({ kind, host }) => kind === "tool" && host !== null);
  const endless = kept.filter(({ kind, rules }) => (kind === "chats" || kind === "files") && rules.length === 0);
  return [
    {
      risk: "Lo que se escribe llega a empresas de fuera, que podrían usarlo o guardarlo.",
      measure: sentOutside(models),
    },
    {
      risk: "Una respuesta es falsa y alguien decide por ella sobre una persona.",
      measure:
        "Cada página avisa de que contesta una inteligencia artificial, y lo que sale de documentos lleva sus fuentes. El programa no decide nada sobre nadie (artículo 22 del RGPD): decide quien lee, y eso hay que decirlo a quien lo usa.",
    },
    {
      risk: "Un texto de fuera (una página, un documento) hace que el modelo saque datos o haga algo que nadie ha pedido.",
      measure:
        tools.length === 0
          ? "No hay herramientas que lleguen fuera."
          : `Lo que cambia algo pregunta a la persona, y después de leer algo de fuera se pregunta también por cada dirección. Llegan fuera: ${namesOf(tools)}.`,
    },
    {
      risk: "Quien administra, u otra persona, lee lo que no es suyo.",
      measure: {
        open: "Quien administra lee lo de los demás; cada lectura queda en la auditoría y la persona la ve.",
        reason: "Quien administra solo lee si antes dice para qué; queda en la auditoría y se avisa a la persona.",
        never: "Quien administra no puede leer lo de los demás.",
      }[security.adminReads],
    },
    {
      risk: "Alguien entra en la cuenta de otra persona.",
      measure: {
        all: "La verificación en dos pasos es obligatoria para todas las personas que entran con una contraseña de aquí.",
        admins: "La verificación en dos pasos es obligatoria para quien administra, y la puede usar cualquiera.",
        optional: security.passwords
          ? `La verificación en dos pasos la usa quien quiere: ${security.withSecondStep.toLocaleString("es")} cuentas.`
          : "Se entra con la organización, que pone sus pasos.",
      }[security.secondStep],
    },
    {
      risk: "Se guarda más tiempo del que hace falta.",
      measure:
        endless.length === 0
          ? "Hay reglas de conservación para conversaciones y archivos."
          : "Sin regla de conservación, las conversaciones y los archivos se guardan hasta que se eliminan: se ponen en «Conservación».",
    },
    {
      risk: "Se pierde lo guardado.",
      measure: {
        none: "No hay copias en otro sitio: BACKUP_URL.",
        plain: "Copia cada noche en otro sitio, sin cifrar: BACKUP_PASSPHRASE.",
        encrypted: "Copia cifrada cada noche en otro sitio.",
      }[security.nightlyCopies],
    },
    {
      risk: "La usan menores, o se trata de ellos.",
      measure: "El programa no sabe la edad de nadie: lo deciden las condiciones y quién da las cuentas.",
    },
  ];
}

/** The models that answer outside, and which of them get identifiers as they are. */
function sentOutside(models: Processing["recipients"]): string {
  const outside = models.filter(({ host }) => host !== null);
  if (outside.length === 0) return "Todos los modelos contestan en esta máquina o en la red de la casa.";
  const plain = outside.filter(({ pseudonyms }) => !pseudonyms);
  const hidden =
    plain.length === 0
      ? "Todos reciben seudónimos en lugar de los identificadores."
      : `Sin seudónimos: ${namesOf(plain)}.`;
  return `Van fuera ${outside.length === 1 ? "un modelo" : `${outside.length} modelos`}: ${namesOf(outside)}. ${hidden} Hace falta un contrato de encargado con cada empresa.`;
}

const namesOf = (named: { name: string }[]) => named.map(({ name }) => name).join(", ");

/** The template of the assessment as far as the settings say. */
export function impactOf(processing: Processing, timeZone: string) {
  const { day, facts, recipients } = inWords(processing, timeZone);
  return {
    day,
    facts,
    processors: recipients.filter(({ isOutside, isPublic }) => isOutside && !isPublic),
    risks: risksOf(processing),
    blank,
  };
}
