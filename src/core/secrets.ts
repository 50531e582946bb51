import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { RandomBytes } from "./clock.ts";

/** The prefixes of kb's secrets: personal access tokens and connector keys. */
export type SecretPrefix = "kb_pat_" | "kb_con_";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARS = 32;
const CHECKSUM_CHARS = 6;
const SHOWN_CHARS = 4;

/** A new secret, and what is stored about it: the SHA-256 and the characters that identify it in a list. */
export interface MintedSecret {
  plaintext: string;
  hash: string;
  /** The prefix and 4 more characters. */
  shown: string;
}

/**
 * Creates a secret: a prefix, 32 random base62 characters (190 bits), and 6 base62 characters of the CRC32 of
 * everything before. The checksum reveals a typo without a database query.
 */
export function mintSecret(prefix: SecretPrefix, randomBytes: RandomBytes): MintedSecret {
  const body = prefix + randomBase62(RANDOM_CHARS, randomBytes);
  const plaintext = body + checksum(body);
  return { plaintext, hash: hashSecret(plaintext), shown: plaintext.slice(0, prefix.length + SHOWN_CHARS) };
}

/**
 * True when the text has the form and the checksum of kb's secrets. Rejects typos and fakes without a database query.
 */
export function isWellFormedSecret(prefix: SecretPrefix, text: string): boolean {
  if (!text.startsWith(prefix) || text.length !== prefix.length + RANDOM_CHARS + CHECKSUM_CHARS) return false;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return /^[0-9A-Za-z]+$/.test(text.slice(prefix.length)) && checksum(body) === text.slice(-CHECKSUM_CHARS);
}

/** Creates a secret without a prefix, for cookies and links: 256 random bits in base64url. */
export function randomSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString("base64url");
}

/** Returns the SHA-256 in hex, which is all that the store keeps of any secret with enough entropy. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function checksum(body: string): string {
  let value = crc32(body);
  let text = "";
  for (let i = 0; i < CHECKSUM_CHARS; i++) {
    text = BASE62.charAt(value % 62) + text;
    value = Math.floor(value / 62);
  }
  return text;
}

/**
 * Returns random base62 characters. Bytes of 248 and above are discarded, so that every character is equally likely.
 */
function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
