import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { RandomBytes } from "#core/clock.ts";
import type { OAuthRecords, Payload } from "./records.ts";

export type TokenAnswer = Record<string, unknown>;

export interface RefreshRequest {
  /** The refresh token in the request. */
  token: string;
  clientId: string;
  /** The requested resource and scope. A repeated request must have the same. */
  asked: string;
}

/**
 * The result of a repeated refresh: the response to the first one; `other` if its resource or scope differs from the
 * first; or undefined, and then the rules of reuse apply.
 */
export type Repeated = { answer: TokenAnswer } | "other" | undefined;

export type RefreshGrace = ReturnType<typeof makeRefreshGrace>;

/** Seconds within which a second use of a refresh token gets the first response. Source: S29. */
const GRACE_SECONDS = 30;
const MODEL = "RefreshGrace";

/**
 * Hosts start two to five bridges with one sign-in, and the bridges refresh at the same moment. The second use of a
 * refresh token within 30 seconds gets the same pair of tokens, as long as the new refresh token is unused. After that
 * it is treated as theft.
 *
 * The pair is encrypted under a key derived from the refresh token in the request, so that the database alone reveals
 * nothing. Source: S29.
 */
export function makeRefreshGrace(records: OAuthRecords, randomBytes: RandomBytes) {
  const running = new Map<string, Promise<unknown>>();
  return {
    /** Runs `work` when no other work for this token is running. */
    async alone<T>(token: string, work: () => Promise<T>): Promise<T> {
      const before = running.get(token) ?? Promise.resolve();
      const mine = before.then(work, work);
      running.set(token, mine);
      try {
        return await mine;
      } finally {
        if (running.get(token) === mine) running.delete(token);
      }
    },

    async find({ token, clientId, asked }: RefreshRequest): Promise<Repeated> {
      const kept = await records.find(MODEL, token);
      const box = kept?.["box"];
      if (typeof box !== "string") return undefined;
      const { answer, ...first } = openBox(token, box);
      if (first.clientId !== clientId) return undefined;
      const successor = answer["refresh_token"];
      if (typeof successor !== "string" || !(await records.isUnused("RefreshToken", successor))) return undefined;
      return first.asked === asked ? { answer } : "other";
    },

    async keep({ token, clientId, asked }: RefreshRequest, answer: TokenAnswer): Promise<void> {
      const box = closeBox(token, { clientId, asked, answer }, randomBytes);
      await records.save(MODEL, token, { box } satisfies Payload, GRACE_SECONDS);
    },
  };
}

interface Kept {
  clientId: string;
  asked: string;
  answer: TokenAnswer;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

function keyOf(token: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", token, "kb", "oauth|refresh grace", 32));
}

function closeBox(token: string, kept: Kept, randomBytes: RandomBytes): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(token), iv, { authTagLength: TAG_BYTES });
  const closed = Buffer.concat([cipher.update(JSON.stringify(kept), "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), closed]).toString("base64url");
}

function openBox(token: string, box: string): Kept {
  const bytes = Buffer.from(box, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", keyOf(token), bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  // `closeBox` has written the text, and the tag proves that it is unchanged.
  return JSON.parse(opened.toString("utf8")) as Kept;
}
