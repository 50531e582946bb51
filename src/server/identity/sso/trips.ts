import type { Parts } from "#storage/records/parts.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import { sealedIn } from "#storage/vault.ts";
import type { Trip } from "./provider.ts";

/** A redirect to the provider whose callback arrived unchanged, in time and in the browser in which it began. */
export interface ReturnedTrip {
  trip: Trip;
  /** The session that requested to link an account. Null for a sign-in. */
  sessionId: string | null;
  returnTo: string;
}

/**
 * Round trips to the provider and back. Each can be used once, within 10 minutes, and only in the browser that has its
 * cookie.
 */
export type Trips = ReturnType<typeof makeTrips>;

export const TRIP_LIFETIME_MS = 10 * 60_000;

export function makeTrips(options: Pick<Parts, "store" | "clock" | "randomBytes" | "vault">) {
  const { store, clock, randomBytes, vault } = options;
  const random = () => randomSecret(randomBytes);
  return {
    /** @returns the values of the redirect, and the cookie's secret */
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
     * Returns the values of a redirect, which is used up in any case. Undefined if it is unknown, used or expired, or
     * began in another browser.
     */
    async end(state: string, browserSecret: string | null): Promise<ReturnedTrip | undefined> {
      const stateHash = hashSecret(state);
      if (browserSecret === null) return undefined;
      // Only the browser in which the redirect began can use it up. Another browser with the state can't.
      const flow = await store.sso.takeFlow(stateHash, hashSecret(browserSecret));
      if (!flow || flow.expiresAt <= clock.now()) return undefined;
      // `begin` has sealed the text.
      const { nonce, verifier } = JSON.parse(vault.open(placeOf(stateHash), flow.sealed)) as Omit<Trip, "state">;
      return { trip: { state, nonce, verifier }, sessionId: flow.sessionId, returnTo: flow.returnTo };
    },
  };
}

const placeOf = sealedIn("sso_flows");
