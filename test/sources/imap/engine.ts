import { loadAuthority } from "#server/connectors/authority.ts";
import type { Source } from "#sources/contract.ts";
import { ImapConfig } from "#sources/imap/config.ts";
import { makeImapSource } from "#sources/imap/index.ts";
import { CONNECTOR, type Harness, makeHarness, WORKSPACE } from "../../server/sync/harness.ts";
import { makePool } from "../http/fixture.ts";
import { PERSON } from "./server.ts";

/** A connector to this mailbox, in the real engine. */
export async function connectMailbox(port: number, overrides: Parameters<typeof makeHarness>[1] = {}) {
  // Its configurations were parsed by its own schema.
  const source = makeImapSource() as unknown as Source;
  const { pool } = makePool([{ port }]);
  const kb: Harness = await makeHarness(() => [], {
    findSource: () => source,
    http: pool,
    credentialsOf: async () => ({ credentials: PERSON }),
    loadAuthority: async (_workspaceId, _source, connector) =>
      loadAuthority({ groups: kb.store.in(WORKSPACE).groups }, source, connector, undefined),
    people: { isTrusted: async () => false, onEnded: async () => undefined, link: async () => undefined },
    parallel: 1,
    ...overrides,
  });
  const config = ImapConfig.parse({ host: "127.0.0.1", port, tls: false });
  await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { config: { ...config } });
  return {
    kb,
    living: async () => (await kb.items()).filter(({ removedAt }) => removedAt === null),
  };
}
