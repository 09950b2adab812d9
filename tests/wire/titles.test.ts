import { expect, it } from "vitest";
import { cleanTitle } from "../../app/replies/title.server.ts";

it.each([
  ["Un viaje a Roma", "Un viaje a Roma"],
  ['"Un viaje a Roma".', "Un viaje a Roma"],
  ["**Un viaje a Roma**", "Un viaje a Roma"],
  ['Sobre "El Quijote"', 'Sobre "El Quijote"'],
  ["El significado de «saudade»", "El significado de «saudade»"],
  ["Error en mi_funcion_py", "Error en mi_funcion_py"],
  ["Uso de __init__", "Uso de __init__"],
  ["5 * 3", "5 * 3"],
  ["Título: «Viaje a Roma»", "Viaje a Roma"],
  ["Título sugerido: Pan", "Pan"],
  ["1. Viaje a Roma", "Viaje a Roma"],
  ["- Viaje a Roma", "Viaje a Roma"],
  ["## Viaje a Roma", "Viaje a Roma"],
  ["<title>Viaje a Roma</title>", "Viaje a Roma"],
  ["Aquí tienes un título:\n\nViaje a Roma", "Viaje a Roma"],
  ["```\nViaje a Roma\n```", "Viaje a Roma"],
  ['```json\n{"title": "Viaje a Roma"}\n```', "Viaje a Roma"],
  ["Y entonces…", "Y entonces…"],
])("takes from %j the title", (said, title) => {
  expect(cleanTitle(said)).toBe(title);
});
