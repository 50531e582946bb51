import { makeImapSource } from "#sources/imap/index.ts";
import { AT_EACH_PAGE, type KitFixture } from "../../kit/fixture.ts";
import { oddNames } from "../odd-names.ts";
import { PERSON, startImap } from "./server.ts";

/** The kit's fixture over a server of ours. */
export async function makeImapFixture(): Promise<KitFixture> {
  const server = await startImap();
  for (const subject of ["one", "two", "three"]) server.add("INBOX", subject);
  for (const subject of ["four", "five"]) server.add("INBOX/Work", subject);
  for (const subject of ["six", "seven"]) server.add("Sent", subject);
  const ids = () => [...server.folders].flatMap(([name, { mails }]) => mails.map(({ uid }) => server.idOf(name, uid)));
  const source = makeImapSource({ batching: { messages: 2 }, checkpoints: AT_EACH_PAGE });
  const config = source.spec.config.parse({ host: "127.0.0.1", port: server.port, tls: false });
  let count = 0;
  const heal = () => void (server.instead = undefined);
  const bye = (always: string) => () => {
    server.instead = (_command, tag, socket) => (socket.write(always.replace("TAG", tag)), true);
    return { externalIds: ids(), heal };
  };
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as unknown as KitFixture["source"],
    config,
    credentials: PERSON,
    badCredentials: { ...PERSON, password: "another-secret" },
    badConfigs: [
      {},
      { host: "" },
      { ...config, host: "a/b" },
      { ...config, host: "mail.test\r\nx" },
      { ...config, port: 0 },
      { ...config, since: "yesterday" },
      { ...config, port: 1 },
      { ...config, depth: 1 },
    ],
    context: {
      connector: { id: "con_aaaaaaaaaaaaaaaa", name: "Kit", visibility: "private", owner: "user:usr_aaaaaaaaaaaaaaaa" },
    },
    minItems: 7,
    narrowerScope: { include: [], exclude: ["Sent"] },
    add: async () => server.add("INBOX", `new ${++count}`),
    // A message never changes: an edited draft is another one.
    edit: async () => server.add("INBOX/Work", `edited ${++count}`),
    async remove() {
      const folder = server.folder("Sent");
      const gone = folder.mails.shift();
      return server.idOf("Sent", gone?.uid ?? 0);
    },
    addOdd: async () => oddNames(200).map((name) => server.add("INBOX", name.replaceAll("\n", " "), "text")),
    async moveItem() {
      const [mail] = server.folder("INBOX").mails.splice(0, 1);
      const to = server.folder("Sent");
      const uid = to.next++;
      to.mails.push({ uid, raw: mail?.raw ?? "" });
      return server.idOf("Sent", uid);
    },
    async renameItem() {
      const [mail] = server.folder("INBOX").mails.splice(0, 1);
      const to = server.folder("Sent");
      const uid = to.next++;
      to.mails.push({ uid, raw: mail?.raw ?? "" });
      return { from: server.idOf("INBOX", mail?.uid ?? 0), to: server.idOf("Sent", uid) };
    },
    async expireCursor() {
      for (const folder of server.folders.values()) folder.uidValidity += 1;
    },
    requests: () => server.commands.length,
    async fail(kind) {
      switch (kind) {
        case "unreachable":
          server.instead = (_command, _tag, socket) => (socket.destroy(), true);
          return { externalIds: ids(), heal };
        case "unauthorized":
          server.instead = (command, tag, socket) =>
            command.startsWith("AUTHENTICATE") && (socket.write(`${tag} NO [AUTHENTICATIONFAILED] no\r\n`), true);
          return { externalIds: ids(), heal };
        case "rate_limited":
          return bye("TAG NO [LIMIT] too many\r\n")();
        case "hang":
          server.instead = () => true;
          return { externalIds: ids(), heal };
        case "one_container":
        case "two_containers":
        case "one_item":
          return undefined;
      }
    },
  };
}
