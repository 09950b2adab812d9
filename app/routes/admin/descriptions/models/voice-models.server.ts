import type { AdminResource } from "../description.ts";
import { activity, yesNo } from "../words.ts";

const kinds = { transcription: "Pasa voz a texto", speech: "Lee en voz alta" };

export const voiceModels: AdminResource<"voice-model"> = {
  path: "voice-model",
  many: "Modelos de voz",
  icon: "voice",
  one: "modelo de voz",
  about: "Un modelo de voz dicta los mensajes o lee las respuestas.",
  searches: "Nombre, identificador o dirección",
  changes: "put",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "kind", label: "Qué hace", kind: "choice", choices: kinds, sorted: true },
    { name: "externalId", label: "Identificador", sorted: true },
    { name: "baseUrl", label: "Dirección", sorted: true },
    { name: "enabled", label: "Estado", kind: "flag", states: activity, sorted: true },
  ],
  filters: [
    { name: "kind", label: "Qué hace", choices: kinds, all: "Todo" },
    { name: "enabled", label: "Activo", choices: yesNo, flag: true },
  ],
  fields: [
    { name: "name", label: "Nombre", required: true, half: true },
    {
      name: "kind",
      label: "Qué hace",
      kind: "choice",
      choices: kinds,
      initial: "transcription",
      half: true,
      hint: "Con uno que pasa voz a texto se dicta; con uno que lee, se escuchan las respuestas.",
    },
    {
      name: "externalId",
      label: "Identificador del proveedor",
      required: true,
      half: true,
      hint: "Como whisper-1 o gpt-4o-transcribe; tts-1 o gpt-4o-mini-tts.",
    },
    { name: "voice", label: "Voz", half: true, hint: "Para leer: la que el proveedor llama así. Vacía, alloy." },
    {
      name: "baseUrl",
      label: "Dirección",
      required: true,
      hint: "La de un servidor como el de OpenAI: https://api.openai.com/v1. Allí llegan las grabaciones de quien dicta, o las respuestas que se escuchan.",
      editHint: "Si cambia, hay que escribir la clave otra vez.",
    },
    { name: "apiKey", stored: { is: "hasKey" }, label: "Clave", kind: "secret", hint: "No se enseña nunca." },
    {
      name: "enabled",
      label: "Activo",
      kind: "flag",
      initial: "true",
      hint: "Se prueba al guardarlo. Solo uno de cada tipo: activar este apaga el otro.",
    },
  ],
};
