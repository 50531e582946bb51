import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { ApiError } from "#api/errors.ts";
import { answerBroken } from "./http/broken-request.ts";
import { makeRequestId, withSecurityHeaders } from "./http/guard.ts";
import { toProblem } from "./http/problem.ts";
import type { Log } from "#core/log.ts";

/** A listening HTTP server. */
export interface Listener {
  port: number;
  /**
   * Takes no new connection, waits for the requests in flight, and cuts what is left after `timeoutMs`.
   *
   * @returns how many connections had to be cut
   */
  close(timeoutMs: number): Promise<number>;
}

/** A fetch-style handler as `@hono/node-server` calls it. */
export type FetchHandler = Parameters<typeof serve>[0]["fetch"];

/**
 * Headers must have come within 20 seconds. Bodies are measured by their pace where they are read (`http/body.ts`): an
 * upload that makes progress may take longer than any time for the whole request.
 */
const PATIENCE = { headersTimeout: 20_000, requestTimeout: 0, connectionsCheckingInterval: 5_000 };

/** A body that nobody reads ends with the answer: of a GET, Node would wait for the rest of it. */
function closeUnlessRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.method !== "GET" && incoming.method !== "HEAD") return;
  outgoing.once("finish", () => {
    if (!incoming.complete) incoming.socket.destroySoon();
  });
}

/**
 * Listens on one address.
 *
 * @throws ApiError `port_in_use`, with what to do; `settings_invalid` for an address that is not this machine's
 */
export async function listen(fetch: FetchHandler, host: string, port: number, log: Log): Promise<Listener> {
  const server = await new Promise<Server>((resolve, reject) => {
    // Without an https option the node-server makes a plain http.Server.
    const made = serve({ fetch, hostname: host, port, serverOptions: PATIENCE }, () => resolve(made)) as Server;
    made.on("request", closeUnlessRead);
    made.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
  });
  server.on("clientError", (error, socket) => answerBroken(error, socket, log));
  return {
    // A server that listens on TCP has an address of this shape.
    port: (server.address() as AddressInfo).port,
    close: (timeoutMs) => closeServer(server, timeoutMs),
  };
}

/** What is asked before the server is ready: to come again in a moment. */
export function answerStarting(): Response {
  const message = "The server is starting. Try again in a moment.";
  const requestId = makeRequestId(randomBytes);
  const problem = toProblem(new ApiError("unavailable", { message, retryAfterMs: 1_000 }), requestId);
  const answer = new Response(JSON.stringify(problem.body), { status: problem.status, headers: problem.headers });
  return withSecurityHeaders(answer, { isHttps: false, isApi: true, requestId });
}

async function closeServer(server: Server, timeoutMs: number): Promise<number> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  let cut = 0;
  const timer = setTimeout(() => {
    server.getConnections((_, count) => {
      cut = count;
      server.closeAllConnections();
    });
  }, timeoutMs);
  await closed;
  clearTimeout(timer);
  return cut;
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === "EADDRINUSE") {
    return new ApiError("port_in_use", {
      message: `Port ${port} of ${host} is in use by another program. Stop it, or choose another port with --port.`,
      cause: error,
    });
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "EACCES" || error.code === "ENOTFOUND") {
    return new ApiError("settings_invalid", {
      message: `The server can't listen on ${host}:${port} (${error.code}). Choose another address with --host or --port.`,
      cause: error,
    });
  }
  return error;
}
