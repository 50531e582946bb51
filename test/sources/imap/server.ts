import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface Mail {
  uid: number;
  raw: string;
}

export interface MailFolder {
  uidValidity: number;
  next: number;
  mails: Mail[];
  attributes: string;
}

/** Answers a command in the server's place; false = the server does. */
export type Instead = (command: string, tag: string, socket: Socket) => boolean;

export interface FakeImap {
  port: number;
  folders: Map<string, MailFolder>;
  /** Commands as they came, without tags and passwords. */
  commands: string[];
  capabilities: string;
  greeting: string;
  instead: Instead | undefined;
  connections(): number;
  folder(name: string, attributes?: string): MailFolder;
  add(folder: string, subject: string, text?: string, more?: string): string;
  idOf(folder: string, uid: number): string;
}

export const PERSON = { user: "anna", password: "secret-of-anna" };

/** Ours: a mail server in memory that knows the commands of RFC 3501 that only read. */
export async function startImap(): Promise<FakeImap> {
  const folders = new Map<string, MailFolder>();
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    // An answer is many small pieces.
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.write(fake.greeting);
    let selected: MailFolder | undefined;
    let signingIn = "";
    let buffered = "";
    let literal: { line: string; length: number } | undefined;
    socket.on("data", (piece) => {
      buffered += piece.toString("latin1");
      for (;;) {
        if (literal !== undefined) {
          if (buffered.length < literal.length + 2) return;
          const name = buffered.slice(0, literal.length);
          buffered = buffered.slice(literal.length + 2);
          answer(`${literal.line}"${name}"`);
          literal = undefined;
          continue;
        }
        const end = buffered.indexOf("\r\n");
        if (end === -1) return;
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        const size = /^(.*)\{(\d+)\}$/.exec(line);
        if (size !== null) {
          literal = { line: size[1] ?? "", length: Number(size[2]) };
          socket.write("+ go on\r\n");
        } else answer(line);
      }
    });

    function answer(written: string): void {
      const line = signingIn === "" ? written : `${signingIn} ${written}`;
      signingIn = "";
      const space = line.indexOf(" ");
      const [tag, command] = [line.slice(0, space), line.slice(space + 1)];
      fake.commands.push(command.replace(/^(AUTHENTICATE PLAIN|LOGIN).*/, "$1"));
      if (fake.instead?.(command, tag, socket)) return;
      if (command === "AUTHENTICATE PLAIN") {
        signingIn = line;
        return void socket.write("+ \r\n");
      }
      const say = (text: string) => void socket.write(Buffer.from(`${text}\r\n`, "latin1"));
      const ok = () => say(`${tag} OK done`);
      if (command === "CAPABILITY") {
        say(`* CAPABILITY IMAP4rev1 ${fake.capabilities}`);
        return ok();
      }
      if (/^(AUTHENTICATE PLAIN|LOGIN)/.test(command)) {
        const { user, password } = PERSON;
        const isRight =
          command === `LOGIN "${user}" "${password}"` ||
          command === `AUTHENTICATE PLAIN ${Buffer.from(`\0${user}\0${password}`).toString("base64")}`;
        return isRight ? ok() : say(`${tag} NO [AUTHENTICATIONFAILED] secret words`);
      }
      if (command.startsWith("LIST")) {
        for (const [name, { attributes }] of folders)
          say(`* LIST (${attributes}) "/" "${name.replace(/["\\]/g, "\\$&")}"`);
        return ok();
      }
      if (command.startsWith("EXAMINE")) {
        const name = /^EXAMINE "(.*)"$/.exec(command)?.[1]?.replace(/\\(.)/g, "$1") ?? "";
        selected = folders.get(name);
        if (selected === undefined) return say(`${tag} NO [NONEXISTENT] no such folder`);
        say(`* ${selected.mails.length} EXISTS`);
        say(`* OK [UIDVALIDITY ${selected.uidValidity}] valid`);
        return ok();
      }
      if (selected === undefined) return say(`${tag} BAD no folder`);
      const search = /^UID SEARCH (?:ALL|(?:UID ([\d,]+) )?UNDELETED)/.exec(command);
      if (search !== null) {
        const asked = search[1]?.split(",").map(Number);
        const found = selected.mails.filter(({ uid }) => asked === undefined || asked.includes(uid));
        say(["* SEARCH", ...found.map(({ uid }) => uid)].join(" "));
        return ok();
      }
      const fetch = /^UID FETCH ([\d,]+) \((.*)\)$/.exec(command);
      if (fetch === null) return say(`${tag} BAD what`);
      const wanted = new Set((fetch[1] ?? "").split(",").map(Number));
      for (const [i, { uid, raw }] of selected.mails.entries()) {
        if (!wanted.has(uid)) continue;
        if (command.includes("BODY.PEEK")) say(`* ${i + 1} FETCH (UID ${uid} BODY[]<0> {${raw.length}}\r\n${raw})`);
        else
          say(
            `* ${i + 1} FETCH (UID ${uid} RFC822.SIZE ${raw.length} INTERNALDATE "17-Jul-1996 02:44:25 -0700" ENVELOPE ${envelopeOf(raw)})`,
          );
      }
      ok();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  // A listening server over TCP has such an address.
  const { port } = server.address() as AddressInfo;
  const fake: FakeImap = {
    port,
    folders,
    commands: [],
    capabilities: "SASL-IR AUTH=PLAIN",
    greeting: "* OK ready\r\n",
    instead: undefined,
    connections: () => connections,
    folder(name, attributes = "\\HasNoChildren") {
      const made = folders.get(name) ?? { uidValidity: 7, next: 1, mails: [], attributes };
      folders.set(name, made);
      return made;
    },
    add(name, subject, text = subject, more = "") {
      const folder = fake.folder(name);
      const uid = folder.next++;
      const raw = `Message-ID: <${name}-${uid}@one.test>\r\nFrom: Bo <bo@two.test>\r\n${more}Subject: ${subject}\r\n\r\n${text}\r\n`;
      folder.mails.push({ uid, raw: Buffer.from(raw, "utf8").toString("latin1") });
      return fake.idOf(name, uid);
    },
    idOf: (name, uid) => `${name}/${folders.get(name)?.uidValidity ?? 0}/${uid}`,
  };
  return fake;
}

function envelopeOf(raw: string): string {
  const field = (name: string) => new RegExp(`^${name}: (.*)\r$`, "m").exec(raw)?.[1] ?? "";
  const subject = field("Subject");
  return `("Mon, 7 Feb 1994 21:52:25 -0800" {${subject.length}}\r\n${subject} NIL NIL NIL NIL NIL NIL NIL "${field("Message-ID")}")`;
}
