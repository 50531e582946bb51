import { ApiError } from "#api/errors.ts";

/** Memory budget for request bodies, which can arrive as slowly as `BODY_PACE` allows. */
export type BodyRoom = ReturnType<typeof makeBodyRoom>;

export interface BodyRoomLimits {
  /** Bytes of each body that aren't counted. Nearly all bodies are smaller, so they are read whatever others send. */
  freeBytes: number;
  /** Maximum bytes of all bodies of one sender. */
  senderBytes: number;
  totalBytes: number;
}

const MB = 1024 * 1024;
const LIMITS: BodyRoomLimits = { freeBytes: MB / 16, senderBytes: 16 * MB, totalBytes: 64 * MB };

const RETRY_AFTER_MS = 30_000;

/** Makes the budget. Without it, one address could hold 600 MB with 1,000 bodies of 1 MB that were never completed. */
export function makeBodyRoom({ freeBytes, senderBytes, totalBytes }: BodyRoomLimits = LIMITS) {
  const bySender = new Map<string, number>();
  let total = 0;

  function add(sender: string, bytes: number): void {
    const held = (bySender.get(sender) ?? 0) + bytes;
    total += bytes;
    if (held > 0) bySender.set(sender, held);
    else bySender.delete(sender);
  }

  return {
    /** Registers a body of a sender. The caller releases it. */
    enter(sender: string) {
      let [came, counted] = [0, 0];
      return {
        /** Counts received bytes. @throws ApiError `unavailable` if the budget has no room for them */
        take(bytes: number): void {
          came += bytes;
          const more = Math.max(0, came - freeBytes) - counted;
          if (more === 0) return;
          if ((bySender.get(sender) ?? 0) + more > senderBytes || total + more > totalBytes) throw full();
          counted += more;
          add(sender, more);
        },
        release(): void {
          add(sender, -counted);
          counted = 0;
        },
      };
    },
  };
}

function full(): ApiError {
  return new ApiError("unavailable", {
    message: "Too many large bodies are arriving. Send it again in a moment.",
    retryAfterMs: RETRY_AFTER_MS,
  });
}
