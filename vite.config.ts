import { reactRouter } from "@react-router/dev/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";
import { conversationChunk, plainImports } from "./bundle/conversation-chunk.ts";

const conversation = conversationChunk();

export default defineConfig(({ command }) => ({
  plugins: [tailwindcss(), reactRouter(), conversation.plugin, plainImports],
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
            "decode.worker": "./app/files/pictures/decode.worker.ts",
            "scan.worker": "./app/files/pictures/scan.worker.ts",
            "unpack.worker": "./app/files/unpack.worker.ts",
            "program.worker": "./app/tools/builtin/program.worker.ts",
            "page.worker": "./app/tools/builtin/page.worker.ts",
            "scrub.worker": "./app/db/sqlite/scrub.worker.ts",
            "checkpoint.worker": "./app/db/sqlite/checkpoint.worker.ts",
            "open-copy.worker": "./app/backups/open-copy.worker.ts",
            "document.worker": "./app/markdown/documents/document.worker.ts",
            "draw.worker": "./app/markdown/drawings/draw.worker.ts",
            "render.worker": "./app/markdown/render.worker.ts",
            "import.worker": "./app/api/imports/import.worker.ts",
            "mail.worker": "./app/api/mail/mail.worker.ts",
          },
          // V8 keeps the text of what it runs, in two bytes a character where any is not Latin-1: 10 MB less.
          output: { charset: "ascii", comments: false },
        },
      },
      // Packages come into the bundle as far as they are used: a third less memory, and a faster start. Packages that have binaries, or are
      // loaded only by some installations, stay outside.
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
                "libheif-js",
                "docx",
                "decode-bmp",
                "sqlite-vec",
                "tesseract.js",
                "@e965/xlsx",
                "postal-mime",
                "imapflow",
              ],
            }
          : {},
    },
    client: {
      build: {
        // Nothing is to be added to what `import()` loads: what that imports in turn is mostly there (plainImports).
        modulePreload: false,
        rollupOptions: {
          output: {
            // The table of routes, in every page, has the names of all files, and hashes do not compress. Seven is the least for this many files.
            chunkFileNames: "assets/[name]-[hash:7].js",
            entryFileNames: "assets/[name]-[hash:7].js",
            codeSplitting: {
              groups: [
                {
                  name: "react",
                  test: /node_modules\/(?!@?socket\.io|engine\.io|debug\/|ms\/|@simplewebauthn\/)|rolldown/,
                },
                { name: "conversation", test: conversation.has },
              ],
            },
          },
        },
      },
    },
  },
}));
