import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "#core/log.ts";

/** How long connections without a request may stay open, in milliseconds. */
export interface ConnectionTimes {
  /** Time limit for the first byte of a connection. */
  firstByteMs: number;
  /**
   * Time limit for the headers of a request. For the first request it starts with the connection, for a later one after
   * Node's keep-alive time.
   */
  requestMs: number;
  /**
   * A connection younger than this may have sent data that isn't read yet. It stays open even near the limit of open
   * files.
   */
  youngMs: number;
  /** Milliseconds between two checks. */
  lookMs: number;
  /**
   * During shutdown: time limit for the first request of a new connection, and for a next request that has already
   * begun.
   */
  endingMs: number;
}

/** Counts of open files of this process: connections and everything else. */
export interface Descriptors {
  /** The maximum number of open files; undefined if the system doesn't report it. */
  limit: number | undefined;
  count(): number;
}

export interface ConnectionOptions {
  log: Log;
  times: ConnectionTimes;
  /** Milliseconds that Node keeps a connection open between two requests. */
  keepAliveMs: number;
  descriptors?: Descriptors;
}

export type Connections = ReturnType<typeof watchConnections>;

/** The current state of a connection. */
interface State {
  /** Start of the wait for a request: the start of the connection, or the end of its last response. */
  since: number;
  /** Bytes received up to the start of the wait. */
  bytes: number;
  hasAsked: boolean;
  answers: Set<ServerResponse>;
}

/**
 * If more than the first share of the file descriptors is open, idle connections are closed until the second share is
 * reached.
 */
const [FULL, RELIEVED] = [0.9, 0.8];
/**
 * Above this share, a new connection is closed at once. The remaining descriptors are for the database, syncs and
 * responses.
 */
const CRAMPED = 0.95;
const COUNT_EVERY_MS = 1_000;
const LOG_EVERY_MS = 60_000;
const ENDING_LOOK_MS = 50;

/**
 * Closes connections that wait too long without a request. Node limits the time of headers only from their first byte
 * on. A connection that sends nothing, or only line breaks, would therefore stay open forever, and near the limit of
 * open files the server could accept no new connection.
 */
export function watchConnections(server: Server, options: ConnectionOptions) {
  const { log, times, keepAliveMs, descriptors = systemDescriptors() } = options;
  const open = new Map<Socket, State>();
  const now = () => performance.now();
  let endingSince: number | undefined;
  let [others, countedAt, loggedAt] = [0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  server.on("connection", (socket) => {
    open.set(socket, { since: now(), bytes: 0, hasAsked: false, answers: new Set() });
    socket.once("close", () => open.delete(socket));
    if (relieve() > CRAMPED) socket.destroy();
  });
  // Runs before the app's handler, since the handler may respond at once.
  server.prependListener("request", ({ socket }: IncomingMessage, answer: ServerResponse) => {
    const state = open.get(socket);
    if (state === undefined) return;
    state.hasAsked = true;
    state.answers.add(answer);
    if (endingSince !== undefined) answer.shouldKeepAlive = false;
    answer.once("close", () => {
      state.answers.delete(answer);
      [state.since, state.bytes] = [now(), socket.bytesRead];
      if (endingSince !== undefined && state.answers.size === 0) socket.destroySoon();
    });
  });

  function idle(): [Socket, State][] {
    return [...open].filter(([, { answers }]) => answers.size === 0);
  }

  function check(): void {
    for (const [socket, state] of idle()) {
      const waitedMs = now() - state.since;
      const isSilent = socket.bytesRead === state.bytes;
      if (endingSince !== undefined) {
        // A client that connects during shutdown sends its request one round trip later.
        const isNew = state.since >= endingSince;
        if (isSilent && !isNew) socket.destroySoon();
        else if (now() - Math.max(state.since, endingSince) > times.endingMs) socket.destroySoon();
      } else if (state.hasAsked) {
        if (waitedMs > keepAliveMs + times.requestMs) socket.destroy();
      } else if (waitedMs > (isSilent ? times.firstByteMs : times.requestMs)) socket.destroy();
    }
  }

  /**
   * Near the limit of open files, closes the connections that have waited longest without a request.
   *
   * @returns the share of descriptors that stays open
   */
  function relieve(): number {
    const { limit } = descriptors;
    if (limit === undefined) return 0;
    const isFull = () => others + open.size > limit * FULL;
    // Counting the other open files reads a system folder, so it is done only when needed, and at most once a second.
    if (!isFull() && now() - countedAt < COUNT_EVERY_MS) return 0;
    [others, countedAt] = [countOpen(descriptors, limit) - open.size, now()];
    if (!isFull()) return 0;
    const tooMany = others + open.size - Math.floor(limit * RELIEVED);
    const old = idle().filter(([, { since }]) => now() - since >= times.youngMs);
    const gone = old.toSorted(([, a], [, b]) => a.since - b.since).slice(0, tooMany);
    for (const [socket] of gone) socket.destroy();
    const share = (others + open.size - gone.length) / limit;
    if (now() - loggedAt < LOG_EVERY_MS) return share;
    loggedAt = now();
    log.warn(
      { open: others + open.size, limit, connections: open.size, closed: gone.length },
      "Open files are near the limit: the connections that were idle longest are closed. Raise the limit of open files (ulimit -n, LimitNOFILE), or look for who opens so many.",
    );
    return share;
  }

  let timer = setInterval(check, times.lookMs).unref();
  return {
    /**
     * Starts the shutdown: each response is now the last of its connection, and connections without a request are
     * closed.
     */
    end(): void {
      if (endingSince !== undefined) return;
      endingSince = now();
      for (const { answers } of open.values()) for (const answer of answers) answer.shouldKeepAlive = false;
      clearInterval(timer);
      timer = setInterval(check, ENDING_LOOK_MS).unref();
    },
    /** Stops checking connections. */
    release: (): void => clearInterval(timer),
  };
}

/** Counting opens a file itself. If that fails, the limit is assumed to be reached. */
function countOpen(descriptors: Descriptors, limit: number): number {
  try {
    return descriptors.count();
  } catch {
    return limit;
  }
}

/** The counts that Linux reports. On other systems the limit is unknown. */
function systemDescriptors(): Descriptors {
  try {
    const [, soft = ""] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return { limit: soft === "" ? undefined : Number(soft), count: () => readdirSync("/proc/self/fd").length };
  } catch {
    return { limit: undefined, count: () => 0 };
  }
}
