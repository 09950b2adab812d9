import { getHouse } from "../../../web/house.server.ts";
import type { Route } from "./+types/installed";

const ours = [
  { src: "/icons/icon-192.png", sizes: "192x192", type: "image/png" },
  { src: "/icons/icon-512.png", sizes: "512x512", type: "image/png" },
  { src: "/icons/maskable-512.png", sizes: "512x512", type: "image/png", purpose: "maskable" },
];

// The colour of pages, `--color-page` in app.css.
const ground = "#15110d";

/** The house as a program that can be installed (W3C Web Application Manifest). */
export async function loader({ context }: Route.LoaderArgs) {
  const { name, icon } = await getHouse(context);
  const manifest = {
    name,
    short_name: name,
    description: "Conversaciones con modelos de IA",
    lang: "es",
    id: "/",
    start_url: "/conversation/chat",
    scope: "/",
    display: "standalone",
    background_color: ground,
    theme_color: ground,
    icons: icon ? [{ src: `/marca/icono-grande?v=${icon}`, sizes: "512x512", type: "image/png" }] : ours,
    shortcuts: [
      { name: "Nueva conversación", url: "/conversation/chat" },
      { name: "Buscar", url: "/conversation/chat?buscar" },
    ],
    share_target: {
      action: "/compartir",
      method: "POST",
      enctype: "multipart/form-data",
      params: {
        title: "title",
        text: "text",
        url: "url",
        files: [
          {
            name: "files",
            accept: ["image/*", "audio/*", "text/*", "application/pdf", ".docx", ".odt", ".xlsx", ".ods"],
          },
        ],
      },
    },
  };
  return Response.json(manifest, {
    headers: { "Content-Type": "application/manifest+json", "Cache-Control": "no-cache" },
  });
}
