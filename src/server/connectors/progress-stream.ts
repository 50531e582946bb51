import type { Sync } from "#api/connector-records.ts";
import { cleanJson } from "#api/clean.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import type { Clock, Sleep } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import type { Actor } from "#storage/access/actor.ts";

export interface ProgressViewer {
  actor: Actor;
  /** The person to whom the credential belongs now. @throws ApiError `unauthenticated` if the credential was revoked */
  reauthenticate(): Promise<Actor>;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** Milliseconds between two checks of the runs. */
const LOOK_MS = 1_000;
/** Interval of heartbeats, in milliseconds. Proxies close a connection that is silent for longer. */
const HEARTBEAT_MS = 15_000;
/** Milliseconds after which a stream ends. Its client then opens the next one automatically. */
const LIFE_MS = 15 * 60_000;
/** Milliseconds after which a client opens the next stream. */
const RETRY_MS = 2_000;
const MAX_OPEN_EACH = 20;

/**
 * Streams the runs as server-sent events: `syncs` at once and after every change.
 *
 * @param isReady  false once the server stops, since the server doesn't wait for streams
 */
export function makeProgressStream(deps: { clock: Clock; sleep: Sleep; log: Log }, isReady: () => boolean) {
  const open = new Map<string, number>();

  /** @throws ApiError `rate_limited` if the person has too many streams */
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
        // nginx would buffer the events.
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
   * Counts a stream from its first event on, since a stream that never began never ends. A stream that fails ends, and
   * the client's next request gets the reason.
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
