import type { Parts } from "#storage/records/parts.ts";
import { LRUCache } from "lru-cache";
import { ApiError } from "#api/errors.ts";
import type { GuardedFetch } from "#net/guarded-fetch.ts";
import type { ClientDocumentRecord } from "#storage/records/client-documents.ts";
import { type ClientMetadata, readClientMetadata } from "./clients.ts";
import { type DocumentAnswer, fetchDocument } from "./documents.ts";
import type { RedirectRules } from "./policy.ts";

/** Clients described by a metadata document at the address that is their id. */
export type ClientDocuments = ReturnType<typeof makeClientDocuments>;

export interface ClientDocumentOptions extends Pick<Parts, "store" | "clock" | "log"> {
  fetchGuarded: GuardedFetch;
  rules: RedirectRules;
}

/** Maximum age of a copy that is used instead of an unreachable document, in milliseconds. */
const COPY_MS = 30 * 86_400_000;
/** A client ends if its address reports twice, at least this far apart, that it isn't a client. */
const SAID_TWICE_MS = 3_600_000;
/** Milliseconds for which a copy is used before the document is fetched again. */
const RETRY_MS = 60_000;
const MAX_IN_MEMORY = 100;

interface Known {
  metadata: ClientMetadata;
  readAt: number;
  /** The time before which the document isn't fetched again. */
  until: number;
}

/**
 * Keeps sign-ins working while a client's document can't be reached. The database has the last valid copy, for clients
 * that someone has authorized. A readable document replaces the copy, so anything removed from the document is gone.
 * Source: docs/oauth.md#client-documents.
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

  /** Returns the client's metadata while its document is unavailable. */
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

  /**
   * Handles an address that reports that it isn't a client. The first report is recorded; a second one an hour later
   * ends the client.
   */
  async function noteDenial(kept: ClientDocumentRecord, now: number): Promise<ClientDocumentRecord> {
    const deniedSince = kept.deniedSince ?? now;
    const endedAt = kept.endedAt ?? (now - deniedSince >= SAID_TWICE_MS ? now : null);
    const noted = { ...kept, deniedSince, endedAt };
    if (deniedSince !== kept.deniedSince || endedAt !== kept.endedAt) await store.oauth.saveDocument(noted);
    return noted;
  }

  /** Validates a copy again by the current rules. If an address is no longer allowed, its copy isn't used. */
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
     * Returns the client's metadata, from its document or the last copy. Undefined if the address reports that it isn't
     * a client.
     *
     * @throws ApiError `unavailable` if the document can't be reached and no copy of it may be used
     */
    async find(clientId: string): Promise<(ClientMetadata & { client_id: string }) | undefined> {
      const cached = known.get(clientId);
      const found = cached && clock.now() < cached.until ? cached : await ask(clientId);
      return found && { ...found.metadata, client_id: clientId };
    },
    /** Keeps the last valid copy from now on, because a person authorized the client. */
    async keep(clientId: string): Promise<void> {
      const found = known.get(clientId);
      if (found && (await store.oauth.findDocument(clientId)) === undefined) await save(clientId, found);
    },
    /**
     * Returns when the document of each of these clients was last read. Clients without a document, or whose document
     * was never read, are absent.
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
