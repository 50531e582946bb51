import type { Sync } from "#api/connector-records.ts";
import { cleanJson } from "#api/clean.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import type { Clock, Sleep } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import type { Actor } from "#storage/access/actor.ts";

export interface ProgressViewer {
  actor: Actor;
  /** The person whose credential it is now. @throws ApiError `unauthenticated` when it was revoked */
  reauthenticate(): Promise<Actor>;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
}

/** Milliseconds between two checks of the runs. */
const LOOK_MS = 1_000;
/** Proxies close a connection that is silent for longer. */
const HEARTBEAT_MS = 15_000;
/** A stream ends after this time; its client opens the next one by itself. */
const LIFE_MS = 15 * 60_000;
/** Milliseconds after which a client opens the next stream. */
const RETRY_MS = 2_000;
const MAX_OPEN_EACH = 20;

/**
 * Streams the runs as server-sent events: `syncs` at once and after every change.
 *
 * @param isReady  false once the server stops: it does not wait for streams
 */
export function makeProgressStream(deps: { clock: Clock; sleep: Sleep; log: Log }, isReady: () => boolean) {
  const open = new Map<string, number>();

  /** @throws ApiError `rate_limited` for a person with too many streams */
  return (viewer: ProgressViewer, list: (actor: Actor) => Promise<{ syncs: Sync[] }>): Response => {
    const { userId } = viewer.actor;
    if ((open.get(userId) ?? 0) >= MAX_OPEN_EACH) {
      const message = `You have ${MAX_OPEN_EACH} progress streams open. Close one, then try again.`;
      throw new ApiError("rate_limited", { message, retryAfterMs: 60_000 });
    }
    const events = counted(userId, follow(viewer, list));
    return new Response(ReadableStream.from(events).pipeThrough(new TextEncoderStream()), {
      headers: {
        "Content-Type": "text/event-stream",
        "Cache-Control": "private, no-store",
        // nginx would hold events back to fill a buffer.
        "X-Accel-Buffering": "no",
      },
    });
  };

  async function* follow(
    { actor, reauthenticate, signal }: ProgressViewer,
    list: (actor: Actor) => Promise<{ syncs: Sync[] }>,
  ): AsyncGenerator<string, void> {
    const { clock, sleep } = deps;
    const startedAt = clock.now();
    let [last, spokeAt, viewer] = ["", startedAt, actor];
    yield `retry: ${RETRY_MS}\n\n`;
    while (!signal.aborted && isReady() && clock.now() - startedAt < LIFE_MS) {
      const data = JSON.stringify(cleanJson(await list(viewer)));
      if (data !== last) {
        yield `event: syncs\ndata: ${data}\n\n`;
        [last, spokeAt] = [data, clock.now()];
      } else if (clock.now() - spokeAt >= HEARTBEAT_MS) {
        yield ": nothing changed\n\n";
        spokeAt = clock.now();
      }
      await sleep(LOOK_MS, signal);
      viewer = await reauthenticate();
    }
  }

  /**
   * Counts a stream from its first event, since one that never began is never ended. A stream that fails ends: its
   * client's next request gets the reason.
   */
  async function* counted(userId: string, events: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
    open.set(userId, (open.get(userId) ?? 0) + 1);
    try {
      yield* events;
    } catch (error) {
      if (!isApiError(error)) deps.log.error({ err: error }, "a progress stream failed");
    } finally {
      const left = (open.get(userId) ?? 1) - 1;
      if (left > 0) open.set(userId, left);
      else open.delete(userId);
    }
  }
}
