/** What a tool call learns of its request, and where it tells how far it is. */
export interface CallContext {
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  /** Tells the client how far the call is, if it asked to be told. */
  report(progress: number, total: number, message: string): void;
}

export interface RpcError {
  code: number;
  message: string;
  data?: Record<string, unknown>;
}

export interface RpcAnswer {
  jsonrpc: "2.0";
  id: string | number | null;
  result?: Record<string, unknown>;
  error?: RpcError;
}

/** A JSON answer; `no-store`, for it holds what one person may see. */
export function jsonResponse(
  body: RpcAnswer | readonly RpcAnswer[],
  status: number,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "private, no-store", ...headers },
  });
}

/** A JSON-RPC error as a whole HTTP answer. */
export function errorResponse(
  status: number,
  id: string | number | null,
  error: RpcError,
  headers: Record<string, string> = {},
): Response {
  const { code, message, data } = error;
  const body: RpcAnswer = { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "private, no-store", ...headers },
  });
}

/**
 * An answer as server-sent events: progress notifications for `token`, then the answer, then the end.
 * The work is aborted when the client goes away, by either sign of it.
 */
export function streamResponse(
  signal: AbortSignal,
  token: string | number,
  work: (context: CallContext) => Promise<RpcAnswer>,
): Response {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (message: unknown) => {
        if (gone.signal.aborted || signal.aborted) return;
        controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
      };
      const report = (progress: number, total: number, message: string) =>
        send({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: token, progress, total, message },
        });
      send(await work({ signal: AbortSignal.any([signal, gone.signal]), report }));
      if (!gone.signal.aborted) controller.close();
    },
    cancel() {
      gone.abort();
    },
  });
  return new Response(body, {
    status: 200,
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "private, no-store" },
  });
}
