import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./server.ts";

const program = "/usr/sbin/slapd";
/** Whether this machine has OpenLDAP's server. */
export const hasDirectory = existsSync(program);

export const base = "dc=ejemplo,dc=es";
export const searcher = { dn: `cn=tertulia,${base}`, password: "la que busca" };

const entries = `dn: ${base}
objectClass: dcObject
objectClass: organization
o: Ejemplo
dc: ejemplo

dn: ou=personas,${base}
objectClass: organizationalUnit
ou: personas

dn: ou=grupos,${base}
objectClass: organizationalUnit
ou: grupos

dn: uid=ana,ou=personas,${base}
objectClass: inetOrgPerson
uid: ana
cn: Ana Gil
sn: Gil
mail: ana@ejemplo.es
userPassword: clave de ana

dn: uid=berta,ou=personas,${base}
objectClass: inetOrgPerson
uid: berta
cn: Berta (compras)
sn: Ruiz
mail: berta@ejemplo.es
userPassword: clave de berta

dn: uid=sincorreo,ou=personas,${base}
objectClass: inetOrgPerson
uid: sincorreo
cn: Sin Correo
sn: Correo
userPassword: clave sin correo

dn: cn=Obra pública,ou=grupos,${base}
objectClass: groupOfNames
cn: Obra pública
member: uid=ana,ou=personas,${base}
`;

/** A real directory of two people and a group. The one that searches may not be read by others. */
export async function startDirectory() {
  const folder = mkdtempSync(join(tmpdir(), "directory-"));
  mkdirSync(join(folder, "data"));
  const config = join(folder, "slapd.conf");
  writeFileSync(
    config,
    `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/pid
database mdb
suffix "${base}"
rootdn "${searcher.dn}"
rootpw "${searcher.password}"
directory ${folder}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="${searcher.dn}" read by * none
`,
  );
  writeFileSync(join(folder, "entries.ldif"), entries);
  execFileSync("/usr/sbin/slapadd", ["-f", config, "-l", join(folder, "entries.ldif")]);
  const port = await freePort();
  const server = spawn(program, ["-f", config, "-h", `ldap://127.0.0.1:${port}`, "-d", "0"], { stdio: "ignore" });
  await listening(port);
  return {
    url: `ldap://127.0.0.1:${port}`,
    async stop() {
      server.kill();
      await once(server, "exit");
      rmSync(folder, { recursive: true });
    },
  };
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const opened = await Promise.race([once(socket, "connect"), once(socket, "error").then(() => undefined)]).catch(
      () => undefined,
    );
    socket.destroy();
    if (opened) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
