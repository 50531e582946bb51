import { hash, parseOptions, verify } from "@node-rs/argon2";
import { ApiError } from "#api/errors.ts";

/** Costs of argon2id. */
export interface PasswordCosts {
  memoryKib: number;
  passes: number;
}

/** The cost of a hash: tens of milliseconds of work. Source: OWASP Password Storage Cheat Sheet, argon2id. */
export const PASSWORD_COSTS: PasswordCosts = { memoryKib: 19_456, passes: 2 };

export type Passwords = ReturnType<typeof makePasswords>;

const MIN_CHARS = 12;
/**
 * Maximum length of a password. argon2 accepts longer input, but it would only take more time.
 * Source: docs/people.md#who-can-join.
 */
const MAX_BYTES = 128;
/** Maximum hashes computed at once. Others wait, so that file reads keep their share of the thread pool. */
const MAX_AT_ONCE = 2;
/**
 * Maximum waiting hashes: a few seconds of work. Further requests are refused at once, so that a flood can't fill the
 * memory.
 */
const MAX_WAITING = 200;

/** Passwords that appear in documentation, so everyone can know them. Source: S35. */
const PUBLISHED = new Set([
  "correct horse battery staple",
  "correct-horse-battery-staple",
  "change-me-please",
  "password1234",
]);

/** Hashes and checks passwords with argon2id, off the main thread. `argon2` is the native module by default. */
export function makePasswords(costs: PasswordCosts = PASSWORD_COSTS, argon2 = { hash, verify }) {
  const options = { memoryCost: costs.memoryKib, timeCost: costs.passes, parallelism: 1 };
  const gate = makeGate(MAX_AT_ONCE);
  let dummy: Promise<string> | undefined;

  return {
    /** @throws ApiError `password_too_weak` */
    check(password: string, { email }: { email: string }): void {
      const problem = weaknessOf(password, email);
      if (problem !== undefined) throw new ApiError("password_too_weak", { message: problem, field: "password" });
    },
    /** Returns the argon2id hash, in PHC form. @throws ApiError `unavailable` if too many hashes are waiting */
    hash: (password: string): Promise<string> => gate(() => argon2.hash(password, options)),
    /**
     * Compares a password with a stored hash. Takes the same time if there is no such account or no password.
     *
     * @throws ApiError `unavailable`
     */
    async verify(stored: string | null, password: string): Promise<boolean> {
      // Both paths wait for the dummy hash, so that the first unknown account takes no longer than a known one. The
      // gate isn't used, since a refusal would be cached forever.
      dummy ??= argon2.hash("no one has this password", options);
      const nobody = await dummy;
      const isTooLong = Buffer.byteLength(password) > MAX_BYTES;
      const matches = await gate(() => argon2.verify(stored ?? nobody, isTooLong ? "" : password));
      return matches && stored !== null && !isTooLong;
    },
    /** Whether the hash was made with other costs than the current ones. */
    isOutdated(stored: string): boolean {
      const { memoryCost, timeCost } = parseOptions(stored);
      return memoryCost !== costs.memoryKib || timeCost !== costs.passes;
    },
  };
}

function weaknessOf(password: string, email: string): string | undefined {
  const lower = password.toLowerCase();
  if ([...password].length < MIN_CHARS) return `The password needs at least ${MIN_CHARS} characters.`;
  if (Buffer.byteLength(password) > MAX_BYTES) return `The password can have at most ${MAX_BYTES} bytes.`;
  if (new Set(lower).size < 5) return "The password needs at least 5 different characters.";
  if (PUBLISHED.has(lower)) return "This password is published as an example. Choose your own.";
  if (lower.includes(email.toLowerCase())) return "The password must not contain the email address.";
  return undefined;
}

/** Runs at most `limit` functions at once. The others wait in order. */
function makeGate(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    // A resumed waiter takes the slot of the function that ended.
    if (running >= limit && waiting.length >= MAX_WAITING) throw tooMany();
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

function tooMany(): ApiError {
  return new ApiError("unavailable", {
    message: "Too many people are signing in. Try again in a few seconds.",
    retryAfterMs: 5_000,
  });
}
