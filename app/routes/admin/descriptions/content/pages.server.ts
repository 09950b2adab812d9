import type { AdminResource } from "../description.ts";
import { yesNo } from "../words.ts";

export const pages: AdminResource<"page"> = {
  path: "page",
  many: "Páginas",
  icon: "globe",
  one: "página",
  about: "Las páginas públicas: la de inicio, las del menú y las que añadas.",
  feminine: true,
  searches: "Título",
  changes: "put",
  columns: [
    { name: "title", label: "Título", sorted: true },
    { name: "slug", label: "Dirección", sorted: true },
    {
      name: "published",
      sorted: true,
      label: "Estado",
      kind: "flag",
      states: { true: ["Publicada", "good"], false: ["Sin publicar", "off"] },
    },
    { name: "inMenu", label: "En el menú", kind: "flag", sorted: true },
    { name: "position", label: "Posición", kind: "number", sorted: true },
    { name: "updatedAt", label: "Cambiada", kind: "moment", sorted: true },
  ],
  filters: [{ name: "published", label: "Publicada", choices: yesNo, flag: true, all: "Todas" }],
  fields: [
    { name: "title", label: "Título", required: true },
    { name: "slug", label: "Dirección", hint: "Letras sin acento, números y guiones. Vacía: la portada." },
    { name: "description", label: "Descripción", hint: "La leen los buscadores." },
    { name: "body", label: "Texto", kind: "markdown" },
    { name: "position", label: "Posición en el menú", kind: "number", initial: "0" },
    { name: "published", label: "Publicada", kind: "flag" },
    { name: "inMenu", label: "En el menú", kind: "flag" },
    {
      name: "mustAccept",
      label: "Hay que aceptarla",
      kind: "flag",
      hint: "Nadie conversa sin haberla aceptado; si su texto cambia, se pide otra vez; también a quien administra.",
    },
  ],
};
