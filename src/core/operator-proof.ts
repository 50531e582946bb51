import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** The header in which a request proves that its sender can read the data folder. */
export const OPERATOR_HEADER = "kb-operator";

/** The file in the data folder from which every secret of an installation is derived. */
export const FOLDER_KEY_FILE = "secret.key";
export const FOLDER_KEY_BYTES = 32;

/** How long a proof is valid: long enough for one command in which a person types a password. */
const LIFETIME_MS = 10 * 60_000;
const FORM = /^kb_op_(\d{13})\.([\w-]{43})$/;

/** Returns the sub-key of an installation's key for one purpose. Two purposes never share key material. */
export function deriveFolderKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "kb", purpose, FOLDER_KEY_BYTES));
}

/**
 * Makes a proof for `OPERATOR_HEADER` with the sub-key for `operator`. Anyone who can read the data folder can already
 * do everything, so the proof grants nothing more. Anyone who can't read it isn't the operator, whatever their address.
 * Source: docs/decisions/0051.
 */
export function makeOperatorProof(operatorKey: Uint8Array, now: number): string {
  const expiresAt = String(now + LIFETIME_MS);
  return `kb_op_${expiresAt}.${signOf(operatorKey, expiresAt)}`;
}

/** Whether the header holds a proof by this installation that hasn't expired. */
export function isOperatorProof(proof: string | null, operatorKey: Uint8Array, now: number): boolean {
  const [, expiresAt = "", sign = ""] = FORM.exec(proof ?? "") ?? [];
  if (sign === "" || !timingSafeEqual(Buffer.from(signOf(operatorKey, expiresAt)), Buffer.from(sign))) return false;
  return Number(expiresAt) > now && Number(expiresAt) <= now + LIFETIME_MS;
}

function signOf(operatorKey: Uint8Array, expiresAt: string): string {
  return createHmac("sha256", operatorKey).update(`operator ${expiresAt}`).digest("base64url");
}
