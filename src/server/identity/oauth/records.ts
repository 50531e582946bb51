import type { Parts } from "#storage/records/parts.ts";
import { isApiError } from "#api/errors.ts";
import { sealedIn } from "#storage/vault.ts";
import { hashSecret } from "#core/secrets.ts";
import type { OAuthRecord } from "#storage/records/oauth.ts";
import type { OAuthKeys } from "./keys.ts";

/** The decrypted content of a record. */
export type Payload = Record<string, unknown>;

/** Records by their id. Neither the id nor the content is readable in the database. */
export type OAuthRecords = ReturnType<typeof makeOAuthRecords>;

export interface RecordOptions extends Pick<Parts, "store" | "clock" | "log" | "vault"> {
  keys: OAuthKeys;
}

/**
 * Makes the storage of OAuth records. The row's key is the SHA-256 of the id, which for codes and tokens is the secret
 * itself. The payload, without the id, is sealed for that row. Source: docs/oauth.md#rules.
 */
export function makeOAuthRecords({ store, vault, clock, log, keys }: RecordOptions) {
  const hashOfUserCode = (userCode: string) => keys.prove("user code", userCode);

  const isExpired = (row: OAuthRecord) => row.expiresAt !== null && row.expiresAt <= clock.now();

  function open(row: OAuthRecord, id: string | undefined): Payload | undefined {
    const payload = openPayload({ vault, log }, row);
    if (payload === undefined) return undefined;
    const jti = id ?? payload[OWN_ID];
    return {
      ...payload,
      ...(typeof jti === "string" && { jti }),
      ...(row.consumedAt !== null && { consumed: Math.floor(row.consumedAt / 1000) }),
    };
  }

  return {
    async save(model: string, id: string, payload: Payload, expiresInSeconds: number | undefined): Promise<void> {
      const { jti: _secret, ...kept } = payload;
      const idHash = hashSecret(id);
      const { grantId, userCode } = payload;
      // A device code is found by its user code, and is then stored again under its own id.
      const content = typeof userCode === "string" ? { ...kept, [OWN_ID]: id } : kept;
      await store.oauth.save({
        model,
        idHash,
        sealed: vault.seal(placeOfRecord(model, idHash), JSON.stringify(content)),
        grantId: typeof grantId === "string" ? grantId : null,
        userCodeHash: typeof userCode === "string" ? hashOfUserCode(userCode) : null,
        expiresAt: expiresInSeconds === undefined ? null : clock.now() + expiresInSeconds * 1000,
      });
    },

    async find(model: string, id: string): Promise<Payload | undefined> {
      const row = await store.oauth.find(model, hashSecret(id));
      return row === undefined || isExpired(row) ? undefined : open(row, id);
    },

    /**
     * Does the same as `find`, but also returns expired records that were not deleted yet, since the library
     * distinguishes expired from unknown.
     */
    async findEvenExpired(model: string, id: string): Promise<Payload | undefined> {
      const row = await store.oauth.find(model, hashSecret(id));
      return row && open(row, id);
    },

    /** Also returns expired records. */
    async findByUserCode(userCode: string): Promise<Payload | undefined> {
      const row = await store.oauth.findByUserCode(hashOfUserCode(userCode));
      return row && open(row, undefined);
    },

    /** Returns true to exactly one caller. */
    consume: (model: string, id: string): Promise<boolean> => store.oauth.consume(model, hashSecret(id), clock.now()),

    async isUnused(model: string, id: string): Promise<boolean> {
      const row = await store.oauth.find(model, hashSecret(id));
      return row !== undefined && row.consumedAt === null;
    },

    async remove(model: string, id: string): Promise<void> {
      await store.oauth.remove(model, hashSecret(id));
    },
  };
}

/**
 * Decrypts a row's payload. Returns undefined if its key is no longer available. The row is then treated as missing:
 * the client signs in again, and its error mentions no key and no setting.
 */
export function openPayload(
  { vault, log }: Pick<RecordOptions, "vault" | "log">,
  row: { model: string; idHash: string; sealed: string },
): Payload | undefined {
  try {
    // `save` has written an object.
    return JSON.parse(vault.open(placeOfRecord(row.model, row.idHash), row.sealed)) as Payload;
  } catch (error) {
    if (!isApiError(error, "secret_unreadable")) throw error;
    log.warn(
      { model: row.model, why: error.message },
      "an OAuth record can't be decrypted: its client must sign in again",
    );
    return undefined;
  }
}

/** The field in which a device code stores its own id, which otherwise only the device has. */
const OWN_ID = "kbId";

const placeOfRecord = sealedIn("oauth_records");
