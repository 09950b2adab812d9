import { actOnTool, toolServerOf } from "../../tools/tool-server.server.ts";
import { type AdminResource, type ChoicesOf, forGroups } from "../description.ts";
import { activity, yesNo } from "../words.ts";

const kinds: ChoicesOf<"tool", "kind"> = {
  mcp: "Servidor MCP",
  searxng: "Buscar en la web: SearXNG",
  brave: "Buscar en la web: Brave",
  tavily: "Buscar en la web: Tavily",
  image: "Crear imágenes",
  page: "Leer una página",
  documents: "Buscar en mis documentos",
  sums: "Calcular",
  time: "Fecha y hora",
  artifacts: "Escritos",
  memory: "Memoria",
  program: "Calcular con un programa",
  skills: "Oficios",
};

const allowed = { everyone: "Todos", admins: "Quien administra" };

export const tools: AdminResource<"tool"> = {
  path: "tool",
  many: "Herramientas",
  icon: "rocket",
  one: "herramienta",
  about: "Una herramienta deja que los modelos busquen, calculen o usen otros servicios.",
  feminine: true,
  searches: "Nombre",
  changes: "put",
  columns: [
    { name: "name", label: "Nombre", sorted: true },
    { name: "kind", label: "Tipo", kind: "choice", choices: kinds, sorted: true },
    { name: "address", label: "Dirección", sorted: true },
    { name: "program", label: "Programa", hidden: true },
    { name: "allowed", label: "La usan", kind: "choice", choices: allowed, sorted: true },
    { name: "enabled", label: "Estado", kind: "flag", states: activity, sorted: true },
    { name: "problem", label: "Problema", sorted: true },
    { name: "seconds", label: "Segundos", kind: "number", hidden: true, sorted: true },
    { name: "kilobytes", label: "kB", kind: "number", hidden: true, sorted: true },
    { name: "position", label: "Posición", kind: "number", sorted: true, hidden: true },
  ],
  filters: [
    { name: "kind", label: "Tipo", choices: kinds },
    { name: "enabled", label: "Activa", choices: yesNo, flag: true, all: "Todas" },
  ],
  fields: [
    { name: "name", label: "Nombre", required: true, half: true },
    { name: "kind", label: "Tipo", kind: "choice", choices: kinds, initial: "mcp", half: true },
    {
      name: "address",
      label: "Dirección",
      nullable: true,
      hint: "De un servidor MCP (Streamable HTTP) o de SearXNG: https://…. Los programas de esta máquina se ponen en MCP_SERVERS.",
      editHint: "Si cambia, hay que escribir la clave otra vez. La de un programa de esta máquina está vacía.",
    },
    {
      name: "secret",
      label: "Clave",
      kind: "secret",
      hint: "Un token, o cabeceras como «X-Api-Key: …». No se enseña nunca. Vacía: sin clave, o iniciando sesión allí después.",
      editHint: "Vacía: la que había. No se enseña nunca.",
    },
    {
      name: "clientId",
      label: "Cliente OAuth",
      nullable: true,
      hint: "Su identificador, si donde se inicia sesión hay que darlo de alta a mano.",
      half: true,
      folded: true,
    },
    {
      name: "clientSecret",
      label: "Secreto del cliente",
      kind: "secret",
      hint: "Si lo tiene. No se enseña nunca.",
      editHint: "Vacío: el que había. No se enseña nunca.",
      half: true,
      folded: true,
    },
    {
      name: "personal",
      label: "Con la cuenta de cada persona",
      kind: "flag",
      hint: "De un servidor MCP que pide iniciar sesión: cada persona le da permiso a su cuenta, y nadie usa la de otra.",
      folded: true,
    },
    { name: "allowed", label: "La usan", kind: "choice", choices: allowed, initial: "everyone", half: true },
    { name: "enabled", label: "Activa", kind: "flag", initial: "true", half: true },
    { name: "model", label: "Modelo de imágenes", nullable: true, hint: "Como gpt-image-1.", half: true, folded: true },
    {
      name: "seconds",
      label: "Tiempo de una llamada, en segundos",
      kind: "number",
      initial: "30",
      half: true,
      folded: true,
    },
    {
      name: "kilobytes",
      label: "Tamaño de una respuesta, en kB",
      kind: "number",
      initial: "32",
      hint: "Lo que sobra no se usa.",
      half: true,
      folded: true,
    },
    {
      name: "position",
      label: "Posición en la lista",
      kind: "number",
      initial: "0",
      hint: "De menor a mayor.",
      half: true,
      folded: true,
    },
    forGroups,
  ],
  async parts(_context, item) {
    const server = toolServerOf(item);
    return server && { above: { kind: "server", ...server } };
  },
  acts: actOnTool,
};
