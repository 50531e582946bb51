/** Sends the requests of a long push with the current key, and retries after temporary failures. */
import { makeApi, type Api } from "#cli/calls/api.ts";
import type { Deps } from "#cli/host/deps.ts";
import { CliFailure, interrupted } from "#cli/host/failure.ts";
import type { Settings } from "#cli/login/settings.ts";

export interface Sender {
  /** Runs `work` with retries. @throws CliFailure when its calls are rejected, or after the last attempt */
  run<T>(work: (api: Api) => Promise<T>): Promise<T>;
  /**
   * Waits before a retry.
   *
   * @param tries  number of attempts so far without progress
   * @throws CliFailure the failure itself, when another attempt can't help
   */
  waitAfter(failure: CliFailure, tries: number): Promise<void>;
}

export interface SenderOptions {
  settings: Settings;
  key: string;
  /** Reads the key again from where it is stored; undefined if it can't be read again. */
  readKeyAgain?: () => Promise<string>;
  talk(text: string): void;
}

/** Enough attempts to outlast a restart of the server: about three minutes in all. */
const MAX_TRIES = 10;
const LONGEST_WAIT_MS = 30_000;
const TIMEOUT_MS = 300_000;
const PASSING = new Set([
  "unreachable",
  "unexpected_answer",
  "rate_limited",
  "unavailable",
  "internal",
  "push_cut",
  "storage_full",
  "database_unusable",
  "resources_exhausted",
]);
/** A mistyped address causes these failures too, so they are retried only after the server has answered once. */
const LIKELY_WRONG_ADDRESS = new Set(["unreachable", "unexpected_answer"]);

/** Makes the sender of one push. */
export function makeSender(deps: Deps, { settings, key, readKeyAgain, talk }: SenderOptions): Sender {
  let current = key;
  let hasAnswered = false;
  const api = () =>
    makeApi(
      deps,
      settings,
      { kind: "token", value: current, from: "KB_CONNECTOR_KEY", login: "environment" },
      TIMEOUT_MS,
    );

  async function waitAfter(failure: CliFailure, tries: number): Promise<void> {
    if (failure.code === "unauthenticated" && readKeyAgain !== undefined) {
      const fresh = await readKeyAgain();
      if (fresh === current) throw failure;
      current = fresh;
      talk("The key was rotated; continuing with the new one.");
      return;
    }
    const isPassing = PASSING.has(failure.code) && (hasAnswered || !LIKELY_WRONG_ADDRESS.has(failure.code));
    if (!isPassing || tries >= MAX_TRIES) throw failure;
    const random = (deps.randomBytes(1)[0] ?? 0) / 255;
    const backOff = Math.min(LONGEST_WAIT_MS, 500 * 2 ** (tries - 1)) * (0.75 + random / 2);
    const waitMs = Math.max(failure.retryAfterMs ?? 0, backOff);
    talk(`${failure.message} Retrying in ${Math.ceil(waitMs / 1_000)} s.`);
    try {
      await deps.clock.sleep(waitMs, deps.signal);
    } catch {
      // Sleep ends early only when the command was interrupted.
      throw interrupted();
    }
  }

  return {
    waitAfter,
    async run(work) {
      for (let tries = 1; ; tries += 1) {
        try {
          const result = await work(api());
          hasAnswered = true;
          return result;
        } catch (error) {
          if (!(error instanceof CliFailure)) throw error;
          // A failure with a success status means that a successful answer broke off.
          hasAnswered ||= error.status !== undefined && error.status < 300;
          await waitAfter(error, tries);
        }
      }
    },
  };
}
