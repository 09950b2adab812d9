import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./server.ts";

const program = "/usr/sbin/dovecot";
/** Whether this machine has Dovecot. */
export const hasMailbox = existsSync(program);

/** A real IMAP server (Dovecot) with the mailbox of one person, whose e-mails are put into its folder by `deliver`. */
export async function startMailbox() {
  const folder = mkdtempSync(join(tmpdir(), "mailbox-"));
  const box = join(folder, "Maildir");
  for (const name of ["new", "cur", "tmp"]) mkdirSync(join(box, name), { recursive: true });
  const port = await freePort();
  const { username, uid, gid } = userInfo();
  // Root may not run its doors, for which its package has people of their own; anybody else may run it as nobody but themselves.
  const isRoot = uid === 0;
  // Nor does it open mailboxes of root.
  const owner = isRoot ? { uid: 65_534, gid: 65_534 } : { uid, gid };
  for (const place of [folder, box, ...["new", "cur", "tmp"].map((name) => join(box, name))]) {
    chownSync(place, owner.uid, owner.gid);
  }
  const own = isRoot ? "" : `  user = ${username}\n`;
  const service = (name: string, more = "") => `service ${name} {\n  chroot =\n${own}${more}}\n`;
  writeFileSync(
    join(folder, "dovecot.conf"),
    [
      `base_dir = ${folder}/run`,
      `state_dir = ${folder}/state`,
      "protocols = imap",
      "ssl = no",
      "disable_plaintext_auth = no",
      ...(isRoot
        ? []
        : ["internal_user", "internal_group", "login_user"].map((name) => `default_${name} = ${username}`)),
      "first_valid_uid = 0",
      "first_valid_gid = 0",
      `log_path = ${folder}/log`,
      `mail_location = maildir:${box}`,
      `passdb {\n  driver = static\n  args = password=la-del-buzón\n}`,
      `userdb {\n  driver = static\n  args = uid=${owner.uid} gid=${owner.gid} home=${folder}\n}`,
      service(
        "imap-login",
        `  inet_listener imap {\n    address = 127.0.0.1\n    port = ${port}\n  }\n  inet_listener imaps {\n    port = 0\n  }\n`,
      ),
      service("anvil"),
      service("stats"),
      service("auth-worker"),
    ].join("\n"),
  );
  const server = spawn(program, ["-F", "-c", join(folder, "dovecot.conf")], { stdio: "ignore" });
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries > 200 || server.exitCode !== null) throw new Error("Dovecot has not started");
    await new Promise((done) => setTimeout(done, 50));
  }
  let delivered = 0;
  return {
    url: `imap://tertulia:${encodeURIComponent("la-del-buzón")}@127.0.0.1:${port}/INBOX`,
    deliver(message: string): void {
      writeFileSync(join(box, "new", `${Date.now()}.${++delivered}.prueba`), message);
    },
    /** How many e-mails are seen, and how many are not. */
    flags() {
      const files = ["new", "cur"].flatMap((name) => readdirSync(join(box, name)));
      const seen = files.filter((name) => /:2,[A-Z]*S/.test(name)).length;
      return { seen, unseen: files.length - seen };
    },
    async stop() {
      server.kill();
      if (server.exitCode === null) await once(server, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).once("error", () => resolve(false));
  });
