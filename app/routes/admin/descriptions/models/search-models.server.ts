import type { AdminResource } from "../description.ts";
import { activity, yesNo } from "../words.ts";

export const searchModels: AdminResource<"search-model"> = {
  path: "search-model",
  many: "Modelos de búsqueda",
  icon: "search",
  one: "modelo de búsqueda",
  about: "Un modelo de búsqueda encuentra también lo que dice lo mismo con otras palabras.",
  searches: "Nombre, identificador o dirección",
  changes: "put",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "externalId", label: "Identificador", sorted: true },
    { name: "baseUrl", label: "Dirección", sorted: true },
    { name: "enabled", label: "Estado", kind: "flag", states: activity, sorted: true },
    { name: "problem", label: "Problema", sorted: true },
  ],
  filters: [{ name: "enabled", label: "Activo", choices: yesNo, flag: true }],
  fields: [
    {
      name: "name",
      label: "Nombre",
      required: true,
      half: true,
      hint: "Con un modelo de búsqueda (embeddings) se encuentra también lo dicho con otras palabras.",
    },
    {
      name: "externalId",
      label: "Identificador del proveedor",
      required: true,
      half: true,
      hint: "Como bge-m3, nomic-embed-text o text-embedding-3-small.",
    },
    {
      name: "baseUrl",
      label: "Dirección",
      required: true,
      hint: "La de un servidor como el de OpenAI: https://api.openai.com/v1. De Ollama, http://localhost:11434/v1. Allí llega el texto de todo lo que se busca: documentos, entrenamientos y mensajes.",
      editHint: "Si cambia, hay que escribir la clave otra vez.",
    },
    { name: "apiKey", stored: { is: "hasKey" }, label: "Clave", kind: "secret", hint: "No se enseña nunca." },
    {
      name: "enabled",
      label: "Activo",
      kind: "flag",
      initial: "true",
      hint: "Se prueba al guardarlo. Solo uno a la vez: activar este apaga los otros.",
    },
    {
      name: "questionPrefix",
      label: "Delante de cada pregunta",
      hint: "Algunos modelos lo piden, como «query: » o «search_query: ».",
      half: true,
      folded: true,
    },
    {
      name: "passagePrefix",
      label: "Delante de cada pasaje",
      hint: "Como «passage: » o «search_document: ».",
      half: true,
      folded: true,
    },
  ],
};
