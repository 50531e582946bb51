import { Readable } from "node:stream";
import type { Clock } from "#core/clock.ts";
import { ApiError } from "#api/errors.ts";

/** Milliseconds that a body may take before its caller is authenticated again. */
export const PROMPT_BODY_MS = 1_000;

/**
 * Reads a body for a caller who was let in, and gives both. A body can be held back for minutes: when it was, the caller is
 * authenticated again, since what was revoked meanwhile must not act. A body that comes at once spares the second look-up.
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

/** While the server waits for a body, so much of it must come in such a time: 500 bytes a second, however large it is. */
export const BODY_PACE = { windowMs: 20_000, minBytes: 10_000 } as const;

/** What a body comes from. A Node request as it is costs far less than the web stream that is made of it. */
export type BodySource = ReadableStream<Uint8Array> | Readable;

/**
 * The bytes of a body as they come. Only the time in which the sender is waited for counts: an upload may take as long as
 * it needs while it makes progress, and a slow reader is no fault of the sender. To leave early ends the body.
 *
 * @throws ApiError `request_timeout` when it stalls or comes too slowly
 */
export async function* readInPace(body: BodySource): AsyncGenerator<Uint8Array, void> {
  const reader: BodyReader = body instanceof Readable ? readerOf(body) : body.getReader();
  let [leftMs, bytes]: [number, number] = [BODY_PACE.windowMs, 0];
  try {
    for (;;) {
      const startedAt = performance.now();
      const next = await before(reader.read(), leftMs);
      if (next.value === undefined) return;
      leftMs -= performance.now() - startedAt;
      bytes += next.value.byteLength;
      if (bytes >= BODY_PACE.minBytes) [leftMs, bytes] = [BODY_PACE.windowMs, 0];
      yield next.value;
    }
  } finally {
    // Not waited for: of a body that has stalled nothing comes any more.
    reader.cancel().catch(() => undefined);
  }
}

interface BodyReader {
  /** Without a value at the end. */
  read(): Promise<{ value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

const TURNS = ["readable", "end", "error", "close"] as const;

function readerOf(incoming: Readable): BodyReader {
  return {
    read: () =>
      new Promise((resolve, reject) => {
        const settle = (end: () => void) => {
          for (const turn of TURNS) incoming.off(turn, look);
          end();
        };
        const look = () => {
          // Of a stream of bytes without an encoding.
          const value = incoming.read() as Buffer | null;
          if (value !== null) settle(() => resolve({ value }));
          else if (incoming.readableEnded) settle(() => resolve({}));
          else if (incoming.destroyed) settle(() => reject(incoming.errored ?? new Error("The body was cut off.")));
        };
        for (const turn of TURNS) incoming.on(turn, look);
        look();
      }),
    // The server reads what is left of a body after the answer, or ends the connection.
    cancel: async () => undefined,
  };
}

async function before<T>(reading: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow()), Math.max(0, ms));
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): ApiError {
  const { minBytes, windowMs } = BODY_PACE;
  return new ApiError("request_timeout", {
    message: `The body arrives too slowly: at least ${minBytes} bytes must arrive every ${windowMs / 1_000} seconds. Send it again over a better connection.`,
  });
}
