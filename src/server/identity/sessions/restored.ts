import type { Parts } from "#storage/records/parts.ts";

/**
 * Ends all sign-ins after the database was restored from a copy. Otherwise people who have signed out since the copy,
 * or were signed out, would be signed in again. All sessions end, and so does the access of apps: tokens, codes and the
 * tokens that they made. People sign in again. Tokens that a person made in a session stay valid. Idempotent.
 * Source: S50.
 */
export async function endSignIns({ store, clock }: Pick<Parts, "store" | "clock">): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.sessions.revokeAll(clock.now());
    await tx.oauth.endAllGrants(clock.now());
  });
}
