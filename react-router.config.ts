import type { Config } from "@react-router/dev/config";
import { packRouteManifest } from "./bundle/route-manifest.ts";

export default {
  ssr: true,
  // All routes known at once: some 2 kB, and no request for them on the way.
  routeDiscovery: { mode: "initial" },
  // A route's action in the browser is a few lines: not worth a request of its own.
  splitRouteModules: false,
  buildEnd: () => packRouteManifest("build/client/assets"),
  serverBuildFile: "[name].js",
} satisfies Config;
