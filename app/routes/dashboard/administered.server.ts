/** The menu of the administration: sent to admins only, so that nobody else loads it. */
export const administered = [
  ["", "dashboard", "Panel"],
  ["/user", "users", "Usuarios"],
  ["/subscription", "crown", "Suscripciones"],
  ["/model", "assistant", "Modelos"],
  ["/training", "book", "Entrenamientos"],
  ["/chat", "chat", "Conversaciones"],
  ["/message", "message", "Mensajes"],
  ["/summary", "document", "Resúmenes"],
  ["/project", "project", "Proyectos"],
  ["/page", "globe", "Páginas"],
  ["/email", "message", "Buzón"],
  ["/audit", "shield", "Auditoría"],
  ["/sistema", "server", "Sistema"],
] as const;
