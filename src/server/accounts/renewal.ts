import { ApiError } from "#api/errors.ts";
import type { Clock, RandomBytes, Sleep } from "#core/clock.ts";
import { randomSecret } from "#core/secrets.ts";

/** Stored tokens that can be renewed, with the functions to renew them. */
export interface Renewable {
  /** Reads the current tokens. @throws ApiError if the tokens are gone */
  read(): Promise<{ accessToken: string; version: number }>;
  /** Locks this version of the tokens, so that only one caller renews it. */
  lock(version: number, lock: { by: string; now: number; until: number }): Promise<boolean>;
  /** Gets new tokens, stores them and releases the lock; returns the access token. */
  renew(by: string): Promise<string>;
}

export type Renewer = ReturnType<typeof makeRenewer>;

/**
 * Makes a function that renews tokens. If several callers need new tokens at once, in this process and others, the
 * provider gets one request. The reason: providers rotate refresh tokens.
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

  /** @param key identifies the owner of the tokens @param stale the access token that is too old */
  return (key: string, stale: string, tokens: Renewable): Promise<string> => {
    const under = renewing.get(key) ?? renewAlone(stale, tokens);
    renewing.set(key, under);
    return under.finally(() => renewing.delete(key));
  };
}

/** How long before their expiry tokens are renewed, in milliseconds. */
export const EARLY_MS = 60_000;
/** Milliseconds after which the lock of a process that died while renewing tokens is ignored. */
const LOCK_MS = 60_000;
const WAIT_MS = 45_000;
const LOOK_AGAIN_MS = 250;
