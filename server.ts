// Entry of `npm run dev`. `node server.ts` starts the build, as `npm start` does without this file: to strip the types of a single file,
// Node keeps about 25 MB.
if (process.argv.includes("--dev")) {
  // React picks its development build by it, so it is set before anything else is loaded.
  process.env.NODE_ENV ??= "development";
  await import("./serve.ts");
} else {
  await import(new URL("build/server/start.js", import.meta.url).href);
}

export {};
