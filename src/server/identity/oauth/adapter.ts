import type { Parts } from "#storage/records/parts.ts";
import type { Adapter, AdapterPayload } from "oidc-provider";
import { isFetchableClientId } from "./documents.ts";
import type { OAuthRecords } from "./records.ts";

export interface AdapterOptions extends Pick<Parts, "store" | "clock"> {
  records: OAuthRecords;
  /** The error that the library throws if a code or token was already used. */
  alreadyUsed(): Error;
  /** Ends all tokens of a grant, because a code or token was used twice or its holder revoked it. */
  endGrant(grantId: string): Promise<void>;
  /** Returns the client metadata document at the address that is the client's id. */
  findDocument(clientId: string): Promise<AdapterPayload | undefined>;
}

/** Makes the storage adapter for one of the library's models. */
export function makeAdapters(options: AdapterOptions): (model: string) => Adapter {
  return (model) => {
    // The library's own sign-in session isn't used; the session of this server is the only one.
    // Source: docs/decisions/0015.
    if (model === "Session") return NOTHING;
    return model === "Client" ? clientAdapter(options) : recordAdapter(options, model);
  };
}

function recordAdapter({ store, records, clock, alreadyUsed, endGrant }: AdapterOptions, model: string): Adapter {
  return {
    async upsert(id, payload, expiresIn) {
      await records.save(model, id, payload, expiresIn);
      if (model !== "RefreshToken" || expiresIn === undefined || payload.grantId === undefined) return;
      const now = clock.now();
      await store.oauth.extendGrant(payload.grantId, now, now + expiresIn * 1000);
    },
    // The library gets back the payload that it passed to `save`.
    find: async (id) => (await records.findEvenExpired(model, id)) as AdapterPayload | undefined,
    findByUserCode: async (userCode) => (await records.findByUserCode(userCode)) as AdapterPayload | undefined,
    findByUid: async () => undefined,
    async consume(id) {
      if (await records.consume(model, id)) return;
      // Two requests redeemed the same code at the same moment, so one of them stole it.
      const grantId =
        model === "AuthorizationCode" ? (await records.findEvenExpired(model, id))?.["grantId"] : undefined;
      if (typeof grantId === "string") await endGrant(grantId);
      throw alreadyUsed();
    },
    destroy: (id) => records.remove(model, id),
    revokeByGrantId: endGrant,
  };
}

/**
 * Finds clients that registered, and clients described by a document. The library has the command line's client in its
 * settings.
 */
function clientAdapter({ store, findDocument }: AdapterOptions): Adapter {
  return {
    ...NOTHING,
    async find(clientId) {
      if (isFetchableClientId(clientId)) return findDocument(clientId);
      if (clientId.includes(":")) return undefined;
      const client = await store.oauth.findClient(clientId);
      return client && { ...client.metadata, client_id: clientId };
    },
  };
}

const NOTHING: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};
