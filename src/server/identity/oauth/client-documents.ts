import type { Parts } from "#storage/records/parts.ts";
import { LRUCache } from "lru-cache";
import { ApiError } from "#api/errors.ts";
import type { GuardedFetch } from "#net/guarded-fetch.ts";
import type { ClientDocumentRecord } from "#storage/records/client-documents.ts";
import { type ClientMetadata, readClientMetadata } from "./clients.ts";
import { type DocumentAnswer, fetchDocument } from "./documents.ts";
import type { RedirectRules } from "./policy.ts";

/** Clients described by a document at their own identifier. */
export type ClientDocuments = ReturnType<typeof makeClientDocuments>;

export interface ClientDocumentOptions extends Pick<Parts, "store" | "clock" | "log"> {
  fetchGuarded: GuardedFetch;
  rules: RedirectRules;
}

/** Maximum age of a copy that replaces an unreachable document. */
const COPY_MS = 30 * 86_400_000;
/** A client ends after two answers this far apart that say it isn't one. */
const SAID_TWICE_MS = 3_600_000;
/** How long a copy is used before the document is fetched again. */
const RETRY_MS = 60_000;
const MAX_IN_MEMORY = 100;

interface Known {
  metadata: ClientMetadata;
  readAt: number;
  /** The document isn't fetched again before this time. */
  until: number;
}

/**
 * Keeps logins working while the client's document is out of reach: the last good copy is in the database, for clients
 * that someone has authorized. A readable document replaces it, so anything removed from the document is gone. Source:
 * docs/oauth.md#client-documents.
 */
export function makeClientDocuments({ store, clock, log, fetchGuarded, rules }: ClientDocumentOptions) {
  const known = new LRUCache<string, Known>({ max: MAX_IN_MEMORY });
  const asking = new Map<string, Promise<Known | undefined>>();

  function ask(clientId: string): Promise<Known | undefined> {
    const running = asking.get(clientId);
    if (running !== undefined) return running;
    const asked = load(clientId).finally(() => asking.delete(clientId));
    asking.set(clientId, asked);
    return asked;
  }

  async function load(clientId: string): Promise<Known | undefined> {
    const answer = await fetchDocument(fetchGuarded, clientId, rules);
    const now = clock.now();
    const kept = await store.oauth.findDocument(clientId);
    if (answer.type !== "document") return fallBack(clientId, answer, kept);
    const found = { metadata: answer.metadata, readAt: now, until: now + answer.freshMs };
    known.set(clientId, found);
    if (kept !== undefined || (await store.oauth.hasGrant(clientId, now))) await save(clientId, found);
    return found;
  }

  /** The client's metadata while its document is unavailable. */
  async function fallBack(
    clientId: string,
    { type, why }: Exclude<DocumentAnswer, { type: "document" }>,
    stored: ClientDocumentRecord | undefined,
  ): Promise<Known | undefined> {
    known.delete(clientId);
    const now = clock.now();
    const kept = stored && type === "none" ? await noteDenial(stored, now) : stored;
    const metadata = kept && kept.endedAt === null && now - kept.readAt <= COPY_MS ? reread(clientId, kept) : undefined;
    log.warn(
      { clientId, why, ...(kept && { copyOf: new Date(kept.readAt).toISOString() }) },
      metadata
        ? "a client's document could not be read; its last good copy counts"
        : "a client's document could not be read",
    );
    if (kept && metadata) {
      const found = { metadata, readAt: kept.readAt, until: now + RETRY_MS };
      known.set(clientId, found);
      return found;
    }
    if (type === "out_of_reach" && (kept === undefined || kept.endedAt === null)) throw outOfReach(clientId);
    return undefined;
  }

  /** Handles an address that says it isn't a client: the first time is noted, a second one an hour later ends it. */
  async function noteDenial(kept: ClientDocumentRecord, now: number): Promise<ClientDocumentRecord> {
    const deniedSince = kept.deniedSince ?? now;
    const endedAt = kept.endedAt ?? (now - deniedSince >= SAID_TWICE_MS ? now : null);
    const noted = { ...kept, deniedSince, endedAt };
    if (deniedSince !== kept.deniedSince || endedAt !== kept.endedAt) await store.oauth.saveDocument(noted);
    return noted;
  }

  /** Re-validates a copy by the current rules: an address that is no longer allowed isn't served from it. */
  function reread(clientId: string, { metadata }: ClientDocumentRecord): ClientMetadata | undefined {
    try {
      return readClientMetadata(metadata, new URL(clientId).host, rules);
    } catch {
      return undefined;
    }
  }

  async function save(clientId: string, { metadata, readAt }: Known): Promise<void> {
    await store.oauth.saveDocument({
      clientId,
      metadata: { ...metadata },
      readAt,
      deniedSince: null,
      endedAt: null,
    });
  }

  return {
    /**
     * The client's metadata, from its document or the last copy; undefined when its address says that it isn't a
     * client.
     *
     * @throws ApiError `unavailable` when the document is out of reach and no copy of it may be used
     */
    async find(clientId: string): Promise<(ClientMetadata & { client_id: string }) | undefined> {
      const cached = known.get(clientId);
      const found = cached && clock.now() < cached.until ? cached : await ask(clientId);
      return found && { ...found.metadata, client_id: clientId };
    },
    /** Keeps the last good copy from now on, because a person authorized the client. */
    async keep(clientId: string): Promise<void> {
      const found = known.get(clientId);
      if (found && (await store.oauth.findDocument(clientId)) === undefined) await save(clientId, found);
    },
    /**
     * When each of these clients' documents was last read; clients without a document, or with one never read, are
     * absent.
     */
    async readAt(clientIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const stored = await store.oauth.findDocuments(clientIds);
      const times = new Map(stored.map(({ clientId, readAt }) => [clientId, readAt]));
      for (const clientId of clientIds) {
        const readAt = known.get(clientId)?.readAt;
        if (readAt !== undefined) times.set(clientId, Math.max(readAt, times.get(clientId) ?? 0));
      }
      return times;
    },
  };
}

function outOfReach(clientId: string): ApiError {
  return new ApiError("unavailable", {
    message: `The app's description at ${new URL(clientId).host} can't be read now. Try again in a minute.`,
    retryAfterMs: RETRY_MS,
  });
}
