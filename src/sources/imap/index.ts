import { defined } from "#core/defined.ts";
import type { Batching as Checkpoints } from "#sources/session.ts";
import type { Source } from "#sources/contract.ts";
import { checkMailbox } from "./check.ts";
import { ImapConfig, ImapCredentials, originOf } from "./config.ts";
import { nameOf, toFolders } from "./folders.ts";
import { factsOf } from "./map.ts";
import { makeMailReader } from "./read.ts";
import { openSession } from "./session.ts";
import { type Batching, DEFAULT_BATCHING, imapSessions } from "./sync.ts";

/**
 * Makes the source for a mailbox on an IMAP server: each message is an item, and its attachments are its children. Only
 * the connector's owner can read them.
 */
export function makeImapSource({
  batching = DEFAULT_BATCHING,
  checkpoints = {},
}: { batching?: Batching; checkpoints?: Partial<Checkpoints> } = {}): Source<ImapConfig> {
  const readMail = makeMailReader();
  return {
    spec: {
      providerId: "imap",
      name: "IMAP",
      kinds: ["message", "file"],
      auth: [{ type: "credentials", scheme: "basic", username: "user", password: "password" }],
      config: ImapConfig,
      credentials: ImapCredentials,
      ports: [993],
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "connector",
      hasUnnamed: true,
      isForOwner: true,
    },
    check: checkMailbox,
    sessions: { ...imapSessions(batching), ...defined({ batching: checkpoints }) },
    browse: browseFolders,
    async fetchContent(ctx, { externalId, version }) {
      const content = await readMail(ctx, externalId);
      return {
        ...content,
        fileName: "message.eml",
        mimeType: "message/rfc822",
        version: version ?? factsOf(ctx).version,
      };
    },
    inScope: (scope, { containers }) => {
      const isNamed = (entries: readonly string[]) => containers.some(({ id }) => entries.includes(id));
      return !isNamed(scope.exclude) && (scope.include.length === 0 || isNamed(scope.include));
    },
    originOf,
    placeOf: originOf,
  };
}

const PAGE = 200;

const browseFolders: NonNullable<Source<ImapConfig>["browse"]> = async (ctx, { parent, query, cursor }) => {
  const session = await openSession(ctx, ctx.signal);
  try {
    const wanted = query?.toLowerCase();
    const chains = toFolders(await session.list()).map(({ chain, delimiter }) => ({ chain, delimiter }));
    // A folder that only contains folders can't be opened, but can still be selected.
    const places = new Map<string, { parent: string | null; title: string; expandable: boolean }>();
    for (const { chain, delimiter } of chains) {
      for (const [depth, id] of chain.entries()) {
        const expandable = depth + 1 < chain.length || places.get(id)?.expandable === true;
        places.set(id, { parent: chain[depth - 1] ?? null, title: nameOf(id, delimiter), expandable });
      }
    }
    const found = [...places]
      .filter(
        ([id, { title, parent: own }]) =>
          (cursor === undefined || id > cursor) &&
          (wanted === undefined ? own === parent : title.toLowerCase().includes(wanted)),
      )
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const page = found.slice(0, PAGE);
    const nodes = page.map(([id, place]) => ({ ...place, id, kind: "folder", selectable: true }));
    return { nodes, nextCursor: found.length > page.length ? (page.at(-1)?.[0] ?? null) : null };
  } finally {
    session.close();
  }
};
