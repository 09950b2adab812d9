import { index, layout, type RouteConfig, route } from "@react-router/dev/routes";

export default [
  layout("routes/public/layout.tsx", [
    index("routes/public/page.tsx", { id: "home" }),
    route(":slug", "routes/public/page.tsx"),
  ]),
  route("compartido/:token", "routes/public/shared-chat.tsx"),
  route("robots.txt", "routes/public/robots.ts"),
  route("sitemap.xml", "routes/public/sitemap.ts"),
  layout("routes/auth/layout.tsx", [
    route("auth/signin", "routes/auth/signin.tsx"),
    route("auth/signup", "routes/auth/signup.tsx"),
    route("auth/reset", "routes/auth/forgot.tsx"),
    route("auth/reset/:token", "routes/auth/reset.tsx"),
  ]),
  route("auth/signout", "routes/auth/signout.ts"),
  layout("routes/dashboard/layout.tsx", [
    route("sidebar", "routes/dashboard/fold.ts"),
    route("user", "routes/account/user.tsx", [
      route("contrasena", "routes/account/password.tsx"),
      route("verificacion/crear", "routes/account/add-authenticator.tsx"),
      route("verificacion/eliminar", "routes/account/remove-authenticator.tsx"),
      route("eliminar", "routes/account/delete-account.tsx"),
      route("ayuda", "routes/account/help.tsx"),
    ]),
    route("user/sesiones/:id?", "routes/account/sessions.ts"),
    route("user/file", "routes/account/files.tsx", [route(":id/eliminar", "routes/account/delete-file.tsx")]),
    route("user/file/:id", "routes/account/file.tsx"),
    route("user/file/:id/contenido", "routes/account/file-content.ts"),
    route("user/datos", "routes/account/export.ts"),
    layout("routes/conversation/layout.tsx", [
      route("conversation/chat", "routes/conversation/new-chat.tsx"),
      route("conversation/chat/:id", "routes/conversation/chat.tsx", [
        route("editar", "routes/conversation/rename-chat.tsx"),
        route("eliminar", "routes/conversation/delete-chat.tsx"),
        route("mover", "routes/conversation/move-chat.tsx"),
        route("compartir", "routes/conversation/share-chat.tsx"),
        route("exportar", "routes/conversation/export-chat.tsx"),
        route("regenerar/:messageId", "routes/conversation/regenerate.tsx"),
      ]),
      route("conversation/chat/:id/enviado/:messageId", "routes/conversation/sent-prompt.tsx"),
      route("conversation/project", "routes/conversation/projects.tsx", [
        route("crear", "routes/conversation/create-project.tsx"),
      ]),
      route("conversation/project/:id", "routes/conversation/project.tsx", [
        route("editar", "routes/conversation/edit-project.tsx"),
        route("eliminar", "routes/conversation/delete-project.tsx"),
        route("documentos/crear", "routes/conversation/create-documents.tsx"),
        route("documentos/:fileId/eliminar", "routes/conversation/delete-document.tsx"),
      ]),
      route("conversation/chat/:id/descargar", "routes/conversation/download-chat.ts"),
      route("conversation/adjuntar", "routes/conversation/attach.ts"),
      route("conversation/draft", "routes/conversation/draft.ts"),
      route("conversation/reply/:messageId", "routes/conversation/reply.ts"),
      route("conversation/stream/:messageId", "routes/conversation/stream.ts"),
      route("conversation/text/:messageId", "routes/conversation/text.ts"),
    ]),
  ]),
  route("conversation/chat/:id/imprimir", "routes/conversation/print-chat.tsx"),
  route("*", "routes/public/not-found.ts"),
] satisfies RouteConfig;
