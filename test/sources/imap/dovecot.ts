import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { PERSON } from "./server.ts";

/** Whether Dovecot can run here: it starts its processes as users of its package, which only root may. */
export function canRunDovecot(): boolean {
  const can = process.getuid?.() === 0 && existsSync("/usr/sbin/dovecot") && existsSync("/usr/lib/dovecot/imap");
  if (!can) process.stderr.write("IMAP: not tried with a real server (needs root and Debian's dovecot-imapd).\n");
  return can;
}

/** Debian's user for what belongs to nobody. */
const NOBODY = 65_534;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening server over TCP has such an address.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A real server with the mailbox of one person, in a folder of its own; `tlsPort` shows a certificate that nobody knows. */
export async function startDovecot() {
  const dir = mkdtempSync(join(tmpdir(), "kb-dovecot-"));
  chmodSync(dir, 0o755);
  const mailbox = join(dir, "mail");
  const [port, tlsPort] = [await freePort(), await freePort()];
  const cert = join(dir, "cert.pem");
  const key = join(dir, "key.pem");
  const openssl = [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=localhost",
    "-keyout",
    key,
  ];
  spawnSync("openssl", [...openssl, "-out", cert]);
  writeFileSync(join(dir, "users"), `${PERSON.user}:{PLAIN}${PERSON.password}\n`);
  chmodSync(join(dir, "users"), 0o644);
  writeFileSync(
    join(dir, "dovecot.conf"),
    `protocols = imap
listen = 127.0.0.1
base_dir = ${dir}/run
log_path = ${dir}/log
state_dir = ${dir}/state
ssl = yes
ssl_cert = <${cert}
ssl_key = <${key}
ssl_dh =
disable_plaintext_auth = no
auth_mechanisms = plain
first_valid_uid = 1
mail_location = maildir:${mailbox}
service imap-login {
  inet_listener imap { 
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
  }
}
passdb {
  driver = passwd-file
  args = ${dir}/users
}
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=${dir}/home
}
namespace inbox {
  inbox = yes
  mailbox Trash {
    special_use = \\Trash
  }
}
`,
  );
  makeFolder("");
  let written = 0;

  function makeFolder(name: string): string {
    const folder = name === "" ? mailbox : join(mailbox, `.${name}`);
    for (const each of [folder, ...["cur", "new", "tmp"].map((part) => join(folder, part))]) {
      mkdirSync(each, { recursive: true });
      chownSync(each, NOBODY, NOBODY);
    }
    return folder;
  }

  const child = spawn("/usr/sbin/dovecot", ["-F", "-c", join(dir, "dovecot.conf")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (piece: Buffer) => (errors += piece.toString("utf8")));
  const isUp = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => (socket.destroy(), resolve(true)));
      socket.on("error", () => resolve(false));
    });
  for (let tries = 0; !(await isUp()); tries++) {
    if (child.exitCode !== null || tries > 200) throw new Error(`Dovecot did not start: ${errors.slice(-2_000)}`);
    await wait(50);
  }
  const fileOf = (folder: string, name: string) => join(makeFolder(folder), "cur", `${name}:2,`);
  return {
    port,
    tlsPort,
    /** Gives the name of its file. */
    deliver(folder: string, raw: string): string {
      const name = `${1_700_000_000 + ++written}.M1P1.kb`;
      const file = fileOf(folder, name);
      writeFileSync(file, raw.replaceAll(/\r?\n/g, "\r\n"));
      chownSync(file, NOBODY, NOBODY);
      return name;
    },
    move: (name: string, from: string, to: string) => renameSync(fileOf(from, name), fileOf(to, name)),
    remove: (name: string, folder: string) => rmSync(fileOf(folder, name)),
    /** The folder is made again with what is in it, so that its numbers are others. */
    renumber(folder: string) {
      for (const file of ["dovecot-uidlist", "dovecot.index", "dovecot.index.log", "dovecot.index.cache"]) {
        rmSync(join(makeFolder(folder), file), { force: true });
      }
      rmSync(join(mailbox, "dovecot-uidvalidity"), { force: true });
    },
    /** The ids of all messages outside of the trash, as the server's own tool lists them. */
    list(): string[] {
      const ask = (...args: string[]) => {
        const { status, stdout, stderr } = spawnSync(
          "/usr/bin/doveadm",
          ["-c", join(dir, "dovecot.conf"), "-f", "tab", ...args.slice(0, 2), "-u", PERSON.user, ...args.slice(2)],
          { encoding: "utf8" },
        );
        if (status !== 0) throw new Error(`doveadm ${args.join(" ")}: ${stderr}`);
        return stdout
          .trim()
          .split("\n")
          .slice(1)
          .map((line) => line.split("\t"));
      };
      const validity = new Map(ask("mailbox", "status", "uidvalidity", "*").map(([name = "", of = ""]) => [name, of]));
      // This one word is the whole command.
      const found = ask("fetch", "mailbox uid", "all");
      return found.flatMap(([folder = "", uid]) =>
        folder === "Trash" ? [] : [`${folder}/${validity.get(folder)}/${uid}`],
      );
    },
    async stop() {
      const over = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await over;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
