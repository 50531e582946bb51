import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { type Connections, type ConnectionTimes, type Descriptors, watchConnections } from "./connections.ts";
import { answerBroken } from "./http/broken-request.ts";
import { makeRequestId, withSecurityHeaders } from "./http/guard.ts";
import { toProblem } from "./http/problem.ts";
import type { Log } from "#core/log.ts";
import { makeTurns } from "./turns.ts";

/** A listening HTTP server. */
export type Listener = Awaited<ReturnType<typeof listen>>;

/** A fetch-style handler as `@hono/node-server` calls it. */
export type FetchHandler = Parameters<typeof serve>[0]["fetch"];

/**
 * Milliseconds that an idle connection stays open. It is longer than the 60 seconds of common proxies, which would
 * otherwise send requests into connections that are about to close.
 */
const KEEP_ALIVE_MS = 75_000;

/**
 * Headers must arrive within 20 seconds of their first byte, checked every second (`connections.ts` handles connections
 * that never send one). Bodies are limited by their pace where they are read (`http/body.ts`), so an upload that makes
 * progress may take longer than any limit for the whole request.
 */
const PATIENCE = {
  headersTimeout: 19_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 1_000,
};

/** A connection that sends nothing is closed 20 seconds after it was opened, checked every second. */
const TIMES: ConnectionTimes = {
  firstByteMs: 19_000,
  requestMs: 40_000,
  youngMs: 1_000,
  lookMs: 1_000,
  endingMs: 700,
};

export interface ListenOptions {
  /** Milliseconds that a connection may be idle between two requests. */
  keepAliveMs?: number;
  /** These two options are for tests. */
  times?: ConnectionTimes;
  descriptors?: Descriptors;
}

/**
 * Closes the connection with the response if the body wasn't read. For a GET, Node would otherwise wait for the rest of
 * the body.
 */
function closeUnlessRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.method !== "GET" && incoming.method !== "HEAD") return;
  outgoing.once("finish", () => {
    if (!incoming.complete) incoming.socket.destroySoon();
  });
}

/**
 * Listens on one address.
 *
 * @throws ApiError `port_in_use`, with the next step; `settings_invalid` if the address isn't one of this machine
 */
export async function listen(
  fetch: FetchHandler,
  host: string,
  port: number,
  log: Log,
  { keepAliveMs = KEEP_ALIVE_MS, times = TIMES, descriptors }: ListenOptions = {},
) {
  const server = await new Promise<Server>((resolve, reject) => {
    // Without an https option, node-server makes a plain http.Server.
    const serverOptions = { ...PATIENCE, keepAliveTimeout: keepAliveMs };
    const made = serve({ fetch: inTurns(fetch), hostname: host, port, serverOptions }, () => resolve(made)) as Server;
    made.on("request", closeUnlessRead);
    made.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
  });
  server.on("clientError", (error, socket) => answerBroken(error, socket, log));
  const connections = watchConnections(server, {
    log,
    times,
    keepAliveMs,
    ...defined({ descriptors }),
  });
  return {
    // The address of a server that listens on TCP has this shape.
    port: (server.address() as AddressInfo).port,
    /**
     * Starts closing: each response is now the last of its connection, and connections without a request are closed.
     * New connections are still accepted.
     */
    beginClosing: (): void => connections.end(),
    /**
     * Accepts no new connections, waits for the current requests, and closes the remaining connections after
     * `timeoutMs`.
     *
     * @returns the number of connections that had to be closed
     */
    close: (timeoutMs: number): Promise<number> => closeServer(server, connections, timeoutMs),
  };
}

/** Starts requests one by one. Health checks go first. */
function inTurns(fetch: FetchHandler): FetchHandler {
  const turns = makeTurns();
  return (request, env) => {
    const { url, headers } = env.incoming;
    if (url === "/healthz") return fetch(request, env);
    // The sender in the headers is unverified. It affects only when the request starts.
    return turns.take(headers.authorization ?? headers.cookie ?? "", () => fetch(request, env));
  };
}

/** The response before the server is ready, which asks the client to try again in a moment. */
export function answerStarting(): Response {
  const message = "The server is starting. Try again in a moment.";
  const requestId = makeRequestId(randomBytes);
  const problem = toProblem(new ApiError("unavailable", { message, retryAfterMs: 1_000 }), requestId);
  const answer = new Response(JSON.stringify(problem.body), { status: problem.status, headers: problem.headers });
  return withSecurityHeaders(answer, { isHttps: false, isApi: true, requestId });
}

/**
 * Milliseconds for requests that were already sent when the shutdown begins. Without this time, Node would drop them
 * with their idle connections.
 */
const LAST_ARRIVALS_MS = 100;

async function closeServer(server: Server, connections: Connections, timeoutMs: number): Promise<number> {
  connections.end();
  if (timeoutMs > 0) await sleep(LAST_ARRIVALS_MS);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  let cut = 0;
  const timer = setTimeout(() => {
    server.getConnections((_, count) => {
      cut = count;
      server.closeAllConnections();
    });
  }, timeoutMs);
  await closed;
  clearTimeout(timer);
  connections.release();
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
