import { index, layout, type RouteConfig, route } from "@react-router/dev/routes";

// For contributors: all parts of `ui/` on one page.
const development = import.meta.env?.DEV ? [route("partes", "routes/development/parts.tsx")] : [];

export default [
  ...development,
  layout("routes/public/layout.tsx", [
    index("routes/public/page.tsx", { id: "home" }),
    route(":slug", "routes/public/page.tsx"),
  ]),
  route("compartido/:token", "routes/public/shared-chat.tsx"),
  route("compartido/:token/archivo/:id", "routes/public/shared-file.ts"),
  route("robots.txt", "routes/public/robots.ts"),
  route("sitemap.xml", "routes/public/sitemap.ts"),
  layout("routes/auth/layout.tsx", [
    route("auth/signin", "routes/auth/signin.tsx"),
    route("auth/signup", "routes/auth/signup.tsx"),
    route("auth/reset", "routes/auth/forgot.tsx"),
    route("auth/reset/:token", "routes/auth/reset.tsx"),
  ]),
  route("auth/signout", "routes/auth/signout.ts"),
  layout("routes/shell/layout.tsx", [
    route("sidebar", "routes/shell/fold.ts"),
    route("sidebar/fijar", "routes/shell/pin.ts"),
    route("user", "routes/account/user.tsx", [
      route("contrasena", "routes/account/password.tsx"),
      route("verificacion/crear", "routes/account/security/add-authenticator.tsx"),
      route("verificacion/eliminar", "routes/account/security/remove-authenticator.tsx"),
      route("claves/crear", "routes/account/security/add-api-key.tsx"),
      route("claves/:id/eliminar", "routes/account/security/delete-api-key.tsx"),
      route("eliminar", "routes/account/delete-account.tsx"),
      route("ayuda", "routes/account/help.tsx"),
    ]),
    route("user/sesiones/:id?", "routes/account/security/sessions.ts"),
    route("user/file", "routes/account/files/files.tsx", [
      route(":id/eliminar", "routes/account/files/delete-file.tsx"),
    ]),
    route("user/file/:id", "routes/account/files/file.tsx"),
    route("user/file/:id/contenido", "routes/account/files/file-content.ts"),
    route("user/datos", "routes/account/export.ts"),
    layout("routes/admin/layout.tsx", [
      route("admin", "routes/admin/panel.tsx"),
      route("admin/sistema", "routes/admin/system/system.tsx", [
        route("copias/:name/eliminar", "routes/admin/system/delete-backup.tsx"),
      ]),
      route("admin/sistema/copias/:name", "routes/admin/system/backup.ts"),
      route("admin/sistema/diagnostico", "routes/admin/system/diagnosis.tsx"),
      route("admin/sistema/diagnostico/:run", "routes/admin/system/diagnosis-run.tsx"),
      route("admin/sistema/diagnostico/:run/acuse/:line", "routes/admin/system/diagnosis-receipt.ts"),
      route("admin/:resource", "routes/admin/resources/list.tsx", [
        route("crear", "routes/admin/form/create.tsx"),
        route(":id/editar", "routes/admin/form/edit.tsx"),
        route(":id/eliminar", "routes/admin/form/delete.tsx"),
      ]),
      route("admin/:resource/descargar", "routes/admin/resources/csv.ts"),
      route("admin/:resource/:id", "routes/admin/resources/item.tsx"),
    ]),
    layout("routes/conversation/layout.tsx", [
      route("conversation/chat", "routes/conversation/new-chat.tsx"),
      route("conversation/chat/organizar", "routes/conversation/organize.tsx"),
      route("conversation/chat/importar", "routes/conversation/import.tsx"),
      route("conversation/chat/:id", "routes/conversation/chat/chat.tsx", [
        route("editar", "routes/conversation/chat/rename-chat.tsx"),
        route("eliminar", "routes/conversation/chat/delete-chat.tsx"),
        route("mover", "routes/conversation/chat/move-chat.tsx"),
        route("compartir", "routes/conversation/chat/share-chat.tsx"),
        route("exportar", "routes/conversation/chat/export-chat.tsx"),
        route("regenerar/:messageId", "routes/conversation/reply/regenerate.tsx"),
      ]),
      route("conversation/chat/:id/razonamiento/:messageId", "routes/conversation/reply/reasoning.tsx"),
      route("conversation/chat/:id/enviado/:messageId", "routes/conversation/chat/sent-prompt.tsx"),
      route("conversation/project", "routes/conversation/project/projects.tsx", [
        route("crear", "routes/conversation/project/create-project.tsx"),
      ]),
      route("conversation/project/:id", "routes/conversation/project/project.tsx", [
        route("editar", "routes/conversation/project/edit-project.tsx"),
        route("eliminar", "routes/conversation/project/delete-project.tsx"),
        route("documentos/crear", "routes/conversation/project/create-documents.tsx"),
        route("documentos/:fileId/eliminar", "routes/conversation/project/delete-document.tsx"),
      ]),
      route("conversation/chat/:id/descargar", "routes/conversation/chat/download-chat.ts"),
      route("conversation/adjuntar", "routes/conversation/composer/attach.ts"),
      route("conversation/draft", "routes/conversation/composer/draft.ts"),
      route("conversation/reply/:messageId", "routes/conversation/reply/reply.ts"),
      route("conversation/stream/:messageId", "routes/conversation/stream/events.ts"),
      route("conversation/text/:messageId", "routes/conversation/reply/text.ts"),
    ]),
  ]),
  route("conversation/chat/:id/imprimir", "routes/conversation/chat/print-chat.tsx"),
  route("*", "routes/public/not-found.ts"),
] satisfies RouteConfig;
