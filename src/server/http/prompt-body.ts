import type { Clock } from "#core/clock.ts";

/** Milliseconds that a body may take before its caller is authenticated again. */
export const PROMPT_BODY_MS = 1_000;

/**
 * Reads a body for a caller who was let in, and gives both. A body can be held back for minutes: when it was, the caller is
 * authenticated anew, since what was revoked meanwhile must not act. A body that comes at once spares the second look-up.
 */
export async function readFor<Caller, Body>(
  letIn: Caller,
  clock: Clock,
  { read, authenticate }: { read: () => Promise<Body>; authenticate: () => Promise<Caller> },
): Promise<{ caller: Caller; body: Body }> {
  const startedAt = clock.now();
  const body = await read();
  const tookMs = clock.now() - startedAt;
  // A clock that was set back tells nothing.
  const isPrompt = tookMs >= 0 && tookMs <= PROMPT_BODY_MS;
  return { caller: isPrompt ? letIn : await authenticate(), body };
}
