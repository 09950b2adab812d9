import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v2 as webdav } from "webdav-server";

const root = "/remote.php/webdav";

/**
 * A server of files that somebody else wrote, which answers like a Nextcloud: its people by name, each with the rights that `allow` gives.
 * `folder`: its files on this disk. `mood`: a status with which it answers instead.
 */
export async function startFileServer(people: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), "tertulia-webdav-"));
  const users = new webdav.SimpleUserManager();
  const rights = new webdav.SimplePathPrivilegeManager();
  const known = Object.entries(people).map(([name, password]) => users.addUser(name, password, false));
  const allow = (name: string, path: string, what = ["all"]) => {
    const user = known.find(({ username }) => username === name);
    if (user) rights.setRights(user, path, what);
  };
  for (const name of Object.keys(people)) allow(name, "/");
  const server = new webdav.WebDAVServer({
    httpAuthentication: new webdav.HTTPBasicAuthentication(users, "archivos"),
    privilegeManager: rights,
    requireAuthentification: true,
  });
  await server.setFileSystemAsync("/", new webdav.PhysicalFileSystem(folder));
  const state = {
    mood: undefined as number | undefined,
    /** Body that it answers with to all lists. */
    answer: undefined as string | undefined,
    /** Part of the addresses that it lets nobody read. */
    shut: undefined as string | undefined,
    asked: 0,
  };
  const http = createServer((request, response) => {
    state.asked++;
    if (state.mood) return response.writeHead(state.mood).end();
    if (state.answer !== undefined) return response.writeHead(207).end(state.answer);
    if (state.shut && request.url?.includes(state.shut)) return response.writeHead(403).end();
    if (request.url === "/status.php") return response.end('{"installed":true,"productname":"Nextcloud"}');
    if (!request.url?.startsWith(`${root}/`)) return response.writeHead(404).end();
    // As express leaves it below a mount.
    request.url = request.url.slice(root.length);
    server.executeRequest(request, response, root);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  http.listen(0, "127.0.0.1", resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    folder,
    state,
    allow,
    async stop() {
      http.closeAllConnections();
      http.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
