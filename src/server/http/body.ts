import { Readable } from "node:stream";
import type { Clock } from "#core/clock.ts";
import { ApiError } from "#api/errors.ts";

/** Milliseconds that a body may take before its caller is authenticated again. */
export const PROMPT_BODY_MS = 1_000;

/**
 * Reads a body for an authenticated caller, and returns both. A sender can delay a body for minutes. In that case the
 * caller is authenticated again, because credentials revoked in the meantime must not work. A body that arrives at once
 * doesn't need the second lookup.
 */
export async function readFor<Caller, Body>(
  letIn: Caller,
  clock: Clock,
  { read, authenticate }: { read: () => Promise<Body>; authenticate: () => Promise<Caller> },
): Promise<{ caller: Caller; body: Body }> {
  const startedAt = clock.now();
  const body = await read();
  const tookMs = clock.now() - startedAt;
  // If the clock was set back, the elapsed time is unknown, so the body counts as slow.
  const isPrompt = tookMs >= 0 && tookMs <= PROMPT_BODY_MS;
  return { caller: isPrompt ? letIn : await authenticate(), body };
}

/**
 * While the server waits for a body, at least this many bytes must arrive in each window. The numbers mean 500 bytes a
 * second, for a body of any size.
 */
export const BODY_PACE = { windowMs: 20_000, minBytes: 10_000 } as const;

/** The stream of a body. A Node request costs far less to read than the web stream made from it. */
export type BodySource = ReadableStream<Uint8Array> | Readable;

/**
 * Yields the bytes of a body as they arrive. Only the time spent waiting for the sender is measured. An upload may
 * therefore take any time while it makes progress, and a slow reader isn't the sender's fault. If the caller returns
 * early, the body ends.
 *
 * @throws ApiError `request_timeout` if the body stalls or arrives too slowly
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
    // Isn't awaited, since nothing more arrives from a stalled body.
    reader.cancel().catch(() => undefined);
  }
}

interface BodyReader {
  /** The result has no value at the end of the body. */
  read(): Promise<{ value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

const TURNS = ["readable", "end", "error", "close"] as const;

function readerOf(incoming: Readable): BodyReader {
  return {
    read: () =>
      new Promise((resolve, reject) => {
        const settle = (end: () => void) => {
          for (const turn of TURNS) incoming.off(turn, check);
          end();
        };
        const check = () => {
          // The stream has no encoding, so `read` returns bytes.
          const value = incoming.read() as Buffer | null;
          if (value !== null) settle(() => resolve({ value }));
          else if (incoming.readableEnded) settle(() => resolve({}));
          else if (incoming.destroyed) settle(() => reject(incoming.errored ?? new Error("The body was cut off.")));
        };
        for (const turn of TURNS) incoming.on(turn, check);
        check();
      }),
    // After the response, the server reads the rest of the body or closes the connection.
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
