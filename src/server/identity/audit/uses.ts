import type { Parts } from "#storage/records/parts.ts";
import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import { networkOf } from "#net/client-ip.ts";
import type { Authenticator } from "#server/http/authenticate.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { UseRecorder } from "./recorder.ts";
import type { AuditBatcher } from "./batcher.ts";
import { rowOf } from "./rows.ts";

/** Maximum pairs of credential and network that this process remembers as recorded. */
const MAX_KNOWN = 20_000;
/** Maximum audit rows about a person's tokens that are searched. Networks in older rows are recorded again. */
const MAX_ROWS = 500;

/** Prefix length of an IPv4 network. */
const NETWORK_BITS = 24;

/**
 * Actions for the first use of a token, and for its first use from a network. For sessions, both are recorded when the
 * session begins.
 */
export const USE_ACTIONS = { first: "token.first_used", network: "token.used_from_new_network" } as const;

/**
 * Records the first use of each token and connector key, and the first use from each network. Earlier uses are looked
 * up in the audit log, so a network that wasn't seen for 90 days is new again. Runs after the response; never throws.
 */
export function makeUseRecorder(
  options: Pick<Parts, "store" | "clock" | "log"> & {
    batcher: AuditBatcher;
  },
): UseRecorder {
  const { store, clock, log, batcher } = options;
  const known = new LRUCache<string, true>(atMost(MAX_KNOWN));

  async function recordIfNew(workspaceId: string, use: Use): Promise<void> {
    const { audit } = store.in(workspaceId);
    const earlier = [];
    for (const action of Object.values(USE_ACTIONS)) {
      const rows = await audit.list({ action, credential: use.row.credential, limit: MAX_ROWS, ...use.by });
      earlier.push(...rows);
    }
    if (earlier.some((row) => row.details["network"] === use.network)) return;
    const action = earlier.length === 0 ? USE_ACTIONS.first : USE_ACTIONS.network;
    batcher.add(workspaceId, { ...use.row, action });
  }

  return {
    recordUse(caller) {
      const who = "actor" in caller ? caller.actor : caller.connector;
      if ("actor" in caller && caller.actor.credential.type === "session") return;
      const network = networkOf(who.origin?.clientIp ?? null, NETWORK_BITS);
      const use = makeUse(caller, network, clock.now());
      const key = `${use.row.credential} ${network}`;
      if (known.get(key)) return;
      // It is set before the first await, so that a concurrent use isn't recorded twice.
      known.set(key, true);
      recordIfNew(who.workspaceId, use).catch((error: unknown) => {
        known.delete(key);
        log.error({ err: error }, "the use of a token could not be recorded");
      });
    },
  };
}

/** Wraps the authenticator so that every credential that it accepts is recorded. */
export function notingUses(authenticator: Authenticator, uses: UseRecorder): Authenticator {
  return {
    async authenticate(rule, credentials) {
      const caller = await authenticator.authenticate(rule, credentials);
      if (caller.type !== "nobody") uses.recordUse(caller);
      return caller;
    },
    findShown: (headers) => authenticator.findShown(headers),
  };
}

interface Use {
  row: NewAuditRecord;
  network: string;
  by: { userId?: string };
}

function makeUse(caller: Parameters<UseRecorder["recordUse"]>[0], network: string, now: number): Use {
  const details = { network };
  if ("actor" in caller) {
    const { actor } = caller;
    const target = { type: "token", id: actor.credential.id };
    return { row: rowOf(actor, { action: "", target, details }, now), network, by: { userId: actor.userId } };
  }
  const { connectorId, keyId, origin } = caller.connector;
  const row = {
    at: now,
    actorUserId: null,
    credential: `key:${keyId}`,
    action: "",
    targetType: "connector",
    targetId: connectorId,
    outcome: "done" as const,
    ip: origin?.clientIp ?? null,
    requestId: origin?.requestId ?? null,
    details,
  };
  return { row, network, by: {} };
}
