import type { Parts } from "#storage/records/parts.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import { sealedIn } from "#storage/vault.ts";
import type { Trip } from "./provider.ts";

/** A trip that returned intact, in time and in the browser in which it began. */
export interface ReturnedTrip {
  trip: Trip;
  /** The session that requested the link; null for a sign-in. */
  sessionId: string | null;
  returnTo: string;
}

/** Round trips to the provider: single use, 10 minutes, tied to a browser by a cookie. */
export type Trips = ReturnType<typeof makeTrips>;

export const TRIP_LIFETIME_MS = 10 * 60_000;

export function makeTrips(options: Pick<Parts, "store" | "clock" | "randomBytes" | "vault">) {
  const { store, clock, randomBytes, vault } = options;
  const random = () => randomSecret(randomBytes);
  return {
    /** @returns the trip, and the cookie's secret */
    async begin({
      sessionId,
      returnTo,
    }: {
      sessionId: string | null;
      returnTo: string;
    }): Promise<{ trip: Trip; browserSecret: string }> {
      const trip = { state: random(), nonce: random(), verifier: random() };
      const browserSecret = random();
      const stateHash = hashSecret(trip.state);
      const createdAt = clock.now();
      await store.transaction(async (tx) => {
        await tx.sso.sweepFlows(createdAt);
        await tx.sso.insertFlow({
          stateHash,
          browserHash: hashSecret(browserSecret),
          sessionId,
          sealed: vault.seal(placeOf(stateHash), JSON.stringify({ nonce: trip.nonce, verifier: trip.verifier })),
          returnTo,
          createdAt,
          expiresAt: createdAt + TRIP_LIFETIME_MS,
        });
      });
      return { trip, browserSecret };
    },

    /**
     * Ends a trip; undefined for one that is unknown, used, expired or another browser's. It is used up in any case.
     */
    async end(state: string, browserSecret: string | null): Promise<ReturnedTrip | undefined> {
      const stateHash = hashSecret(state);
      if (browserSecret === null) return undefined;
      // Only for this browser: another one that has the state can't use up the person's trip.
      const flow = await store.sso.takeFlow(stateHash, hashSecret(browserSecret));
      if (!flow || flow.expiresAt <= clock.now()) return undefined;
      // Sealed by `begin`.
      const { nonce, verifier } = JSON.parse(vault.open(placeOf(stateHash), flow.sealed)) as Omit<Trip, "state">;
      return { trip: { state, nonce, verifier }, sessionId: flow.sessionId, returnTo: flow.returnTo };
    },
  };
}

const placeOf = sealedIn("sso_flows");
