import { ApiError } from "#api/errors.ts";
import type { Clock, RandomBytes, Sleep } from "#core/clock.ts";
import { randomSecret } from "#core/secrets.ts";

/** Stored tokens that can be renewed. */
export interface Renewable {
  /** Reads the current tokens. @throws ApiError when there are none any more */
  read(): Promise<{ accessToken: string; version: number }>;
  /** Locks this version, so that only one caller renews it. */
  lock(version: number, lock: { by: string; now: number; until: number }): Promise<boolean>;
  /** Gets new tokens, stores them and releases the lock; returns the access token. */
  renew(by: string): Promise<string>;
}

export type Renewer = ReturnType<typeof makeRenewer>;

/**
 * Makes the renewer: however many callers need new tokens at once, in this process and others, their provider gets one
 * request, because it rotates them.
 */
export function makeRenewer({ clock, randomBytes, sleep }: { clock: Clock; randomBytes: RandomBytes; sleep: Sleep }) {
  const renewing = new Map<string, Promise<string>>();

  async function renewAlone(stale: string, { read, lock, renew }: Renewable): Promise<string> {
    const by = randomSecret(randomBytes);
    const until = clock.now() + WAIT_MS;
    for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
      const { accessToken, version } = await read();
      if (accessToken !== stale) return accessToken;
      const now = clock.now();
      if (await lock(version, { by, now, until: now + LOCK_MS })) return renew(by);
      if (clock.now() >= until || waited >= WAIT_MS) {
        throw new ApiError("source_unavailable", {
          message: "The account's tokens are being renewed. Try again later.",
        });
      }
      await sleep(LOOK_AGAIN_MS, AbortSignal.timeout(WAIT_MS));
    }
  }

  /** @param key whose tokens they are @param stale the access token that is too old */
  return (key: string, stale: string, tokens: Renewable): Promise<string> => {
    const under = renewing.get(key) ?? renewAlone(stale, tokens);
    renewing.set(key, under);
    return under.finally(() => renewing.delete(key));
  };
}

/** Tokens are renewed this long before they end. */
export const EARLY_MS = 60_000;
/** If a process dies while renewing tokens, the next one may try after this. */
const LOCK_MS = 60_000;
const WAIT_MS = 45_000;
const LOOK_AGAIN_MS = 250;
