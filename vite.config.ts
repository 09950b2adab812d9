import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

export default defineConfig(({ command }) => ({
  plugins: [tailwindcss(), reactRouter()],
  build: { assetsInlineLimit: 0 },
  environments: {
    // One bundle and one instance of every server module: pages, API and replies.
    ssr: {
      // Else React's development half is bundled as well.
      define: command === "build" ? { "process.env.NODE_ENV": '"production"' } : {},
      build: {
        rollupOptions: {
          // The threads that read documents and exports are programs of their own beside it.
          input: {
            start: "./start.ts",
            serve: "./serve.ts",
            handler: "./app/server/handler.server.ts",
            "reading.worker": "./app/files/reading.worker.ts",
            "scan.worker": "./app/files/scan.worker.ts",
            "unpack.worker": "./app/files/unpack.worker.ts",
            "page.worker": "./app/tools/builtin/page.worker.ts",
            "scrub.worker": "./app/db/sqlite/scrub.worker.ts",
            "checkpoint.worker": "./app/db/sqlite/checkpoint.worker.ts",
            "render.worker": "./app/markdown/render.worker.ts",
            "import.worker": "./app/api/imports/import.worker.ts",
          },
          // V8 keeps the text of what it runs, in two bytes a character where any is not Latin-1: 10 MB less.
          output: { charset: "ascii", comments: false },
        },
      },
      // Packages come into the bundle as far as they are used: a third less memory, and a faster start. What has binaries, or
      // is loaded only by some installations, stays outside.
      resolve:
        command === "build"
          ? {
              noExternal: true,
              external: [
                "@node-rs/argon2",
                "@redis/client",
                "pg",
                "@zxcvbn-ts/language-common",
                "sirv",
                "web-push",
                "vite",
                "sharp",
                "pdfjs-dist",
                "mammoth",
                "sqlite-vec",
                "tesseract.js",
                "@e965/xlsx",
                "postal-mime",
              ],
            }
          : {},
    },
    client: {
      build: {
        rollupOptions: {
          output: {
            // Left alone, every button would be a request of its own.
            codeSplitting: {
              groups: [
                { name: "react", test: /node_modules\/(?!@?socket\.io|engine\.io|debug\/|ms\/)|rolldown/ },
                {
                  name: "ui",
                  // What a conversation needs from the start; fields of forms come with the first dialog.
                  test: /app\/(ui\/(?!\w+\/(fields?\.|person-fields|socket|constraints|resend|((form|alert|sure)-)?dialog\.|upload-form|search-field)|passkeys|meters|plot|table-head)|routes\/(conversation\/(composer\/composer|calls\/(call|decision-form|call-words)\.|reply\/(reply-parts|reasoning-fold))|auth\/sign-in-over))/,
                },
              ],
            },
          },
        },
      },
    },
  },
}));
