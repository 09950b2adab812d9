// Entry of `npm start`, as built: one process, or with PROCESSES as many as that, behind one port.
import cluster from "node:cluster";
import { ConfigError, readConfig } from "./app/process/config.server.ts";

// React picks its development build by it, so it is set before anything else is loaded.
process.env.NODE_ENV ??= "production";

const count = cluster.isWorker ? 1 : processes();
if (count === 1) await import("./serve.ts");
else {
  const { Workers } = await import("./app/process/work/workers.server.ts");
  await new Workers(count, readConfig()).start();
}

function processes(): number {
  try {
    return readConfig().processes;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
