import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { ApiError } from "#api/errors.ts";
import type { RandomBytes } from "#core/clock.ts";

/** The place of a sealed text, which can be opened only with this place. */
export interface SealedPlace {
  table: string;
  /** The row's whole key, with the workspace first. */
  row: readonly string[];
  column: string;
}

/** Makes the places of a table's column `sealed` from the keys of its rows. */
export function sealedIn(table: string): (...row: readonly string[]) => SealedPlace {
  return (...row) => ({ table, row, column: "sealed" });
}

/**
 * Seals secrets that must be recovered later. Each purpose has its own key, so that a secret sealed for one purpose
 * can't be opened for another.
 */
export type Vault = ReturnType<typeof makeVault>;

/** A key of the installation: 32 bytes with a short name. */
export interface VaultKey {
  id: string;
  key: Uint8Array;
}

/** Matches valid key names in `KB_SECRET_KEYS`; `file` is the name of the key in the data folder. */
export const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
export const KEY_BYTES = 32;

/**
 * Makes a vault that seals with the first key and opens with any of them, so that keys can be changed without downtime:
 * put the new key first, reseal everything, remove the old key.
 *
 * Envelope: `v1.<key id>.<iv>.<ciphertext>.<tag>`, base64url; AES-256-GCM with a 96-bit random iv and a tag of 128
 * bits. The place and the key's id are authenticated, so an envelope that was moved to another row, column or workspace
 * can't be opened. The cipher key is derived by HKDF-SHA256 for the table and column that it seals.
 */
export function makeVault(keys: readonly VaultKey[], randomBytes: RandomBytes) {
  const [newest] = keys;
  if (!newest) throw new Error("A vault needs a key.");
  const subKey = makeSubKeys(keys);
  return {
    /** Returns an envelope that only this vault can open, and only at this place. */
    seal(place: SealedPlace, plaintext: string): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, subKey(newest.id, place) ?? new Uint8Array(), iv, OPTIONS);
      cipher.setAAD(authenticated(place, newest.id));
      const sealed = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
      return ["v1", newest.id, ...[iv, sealed, cipher.getAuthTag()].map(toText)].join(".");
    },
    /**
     * Returns the text in an envelope.
     *
     * @throws ApiError `secret_unreadable` when it was changed, moved, or sealed with an unknown key
     */
    open(place: SealedPlace, envelope: string): string {
      const [version, id = "", iv, sealed, tag, ...more] = envelope.split(".");
      const key = subKey(id, place);
      const parts = [iv, sealed, tag].map((part) => fromText(part ?? ""));
      const [ivBytes, sealedBytes, tagBytes] = parts;
      const isWhole = version === "v1" && more.length === 0 && tag !== undefined;
      if (!isWhole || ivBytes?.length !== IV_BYTES || tagBytes?.length !== TAG_BYTES || !sealedBytes) throw damaged();
      if (!key) throw unknownKey(id);
      try {
        const decipher = createDecipheriv(CIPHER, key, ivBytes, OPTIONS);
        decipher.setAAD(authenticated(place, id));
        decipher.setAuthTag(tagBytes);
        return Buffer.concat([decipher.update(sealedBytes), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw damaged(cause);
      }
    },
    /** True when the envelope wasn't sealed with the newest key, so it should be sealed again at some point. */
    isOutdated: (envelope: string): boolean => envelope.split(".")[1] !== newest.id,
  };
}

/**
 * Parses the keys of `KB_SECRET_KEYS`: `id:base64` separated by commas, each 32 bytes. The first key seals.
 *
 * @returns the keys, or a description of the fault that never quotes the text
 */
export function parseSecretKeys(text: string): VaultKey[] | { fault: string } {
  const keys: VaultKey[] = [];
  for (const entry of text.split(",").map((part) => part.trim())) {
    const colon = entry.indexOf(":");
    const id = entry.slice(0, Math.max(colon, 0));
    if (!KEY_ID.test(id))
      return { fault: "Expected id:base64, separated by commas; an id is 1 to 32 of A-Z a-z 0-9 _ -" };
    const encoded = entry.slice(colon + 1);
    const key = new Uint8Array(Buffer.from(encoded, "base64"));
    const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded);
    if (!isBase64 || key.length !== KEY_BYTES) {
      return {
        fault: `Key ${keys.length + 1} is not ${KEY_BYTES} bytes of base64 (make one with: openssl rand -base64 32)`,
      };
    }
    if (keys.some((other) => other.id === id)) return { fault: `Key ${keys.length + 1} repeats the ID of another key` };
    keys.push({ id, key });
  }
  return keys;
}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
// Without this option, Node accepts tags as short as 4 bytes when decrypting.
const OPTIONS = { authTagLength: TAG_BYTES };

function makeSubKeys(keys: readonly VaultKey[]) {
  const derived = new Map<string, Uint8Array>();
  return (id: string, { table, column }: SealedPlace): Uint8Array | undefined => {
    const key = keys.find((candidate) => candidate.id === id)?.key;
    if (!key) return undefined;
    const name = `${id}|${table}|${column}`;
    const known =
      derived.get(name) ?? new Uint8Array(hkdfSync("sha256", key, "kb", `vault|${table}|${column}`, KEY_BYTES));
    derived.set(name, known);
    return known;
  };
}

/** Returns the authenticated data. JSON separates the values unambiguously, whatever characters they contain. */
function authenticated({ table, row, column }: SealedPlace, keyId: string): Buffer {
  return Buffer.from(JSON.stringify([table, row, column, keyId]), "utf8");
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

/**
 * Decodes a text; undefined unless it is exact base64url. A decoder that skips invalid characters would accept two
 * texts for the same bytes.
 */
function fromText(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

function damaged(cause?: unknown): ApiError {
  return new ApiError("secret_unreadable", {
    message: "A stored secret can't be decrypted: it was changed or moved, or the key is a different one.",
    hint: "Give the credentials again.",
    cause,
  });
}

function unknownKey(id: string): ApiError {
  return new ApiError("secret_unreadable", {
    message: `A stored secret was encrypted with the key ${JSON.stringify(id.slice(0, 32))}, which is missing.`,
    hint: "Put that key back in KB_SECRET_KEYS, or give the credentials again.",
  });
}
