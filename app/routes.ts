import { index, layout, type RouteConfig, route } from "@react-router/dev/routes";

export default [
  layout("routes/public/layout.tsx", [index("routes/public/home.tsx")]),
  layout("routes/auth/layout.tsx", [
    route("auth/signin", "routes/auth/signin.tsx"),
    route("auth/signup", "routes/auth/signup.tsx"),
  ]),
  route("auth/signout", "routes/auth/signout.ts"),
  layout("routes/dashboard/layout.tsx", [
    route("user", "routes/account/user.tsx"),
    layout("routes/conversation/layout.tsx", [
      route("conversation/chat", "routes/conversation/new-chat.tsx"),
      route("conversation/chat/:id", "routes/conversation/chat.tsx", [
        route("editar", "routes/conversation/rename-chat.tsx"),
        route("eliminar", "routes/conversation/delete-chat.tsx"),
      ]),
      route("conversation/draft", "routes/conversation/draft.ts"),
      route("conversation/reply/:messageId", "routes/conversation/reply.ts"),
      route("conversation/stream/:messageId", "routes/conversation/stream.ts"),
      route("conversation/text/:messageId", "routes/conversation/text.ts"),
    ]),
  ]),
  route("*", "routes/public/not-found.ts"),
] satisfies RouteConfig;
