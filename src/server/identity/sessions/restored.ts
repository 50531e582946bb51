import type { Clock } from "#core/clock.ts";
import type { Store } from "#storage/store.ts";

/**
 * The database is a copy that was restored: who signed out since, or was signed out, would be signed in again. All sessions end, and
 * what apps were let in with: tokens, codes and the tokens that they made. People sign in again; tokens that a person made in a
 * session stay. Done twice it does no harm. Source: S50.
 */
export async function endSignIns({ store, clock }: { store: Store; clock: Clock }): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.sessions.revokeAll(clock.now());
    await tx.oauth.endAllGrants(clock.now());
  });
}
