import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "#core/log.ts";

/** How long connections without a request may stay open; milliseconds. */
export interface ConnectionTimes {
  /** Until the first byte of a connection. */
  firstByteMs: number;
  /** For the headers of the first request, from the connection on, or of a next one, after Node's keep-alive time. */
  requestMs: number;
  /**
   * A connection younger than this may have sent data that isn't read yet, and stays open even near the limit of open
   * files.
   */
  youngMs: number;
  /** Time between two checks. */
  lookMs: number;
  /** During shutdown: for the first request of a new connection, or for the next one already begun. */
  endingMs: number;
}

/** Open files of this process: connections and everything else. */
export interface Descriptors {
  /** Undefined where the system doesn't report it. */
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
  /** When it began to wait for a request: at its start, or at the end of its last answer. */
  since: number;
  /** Bytes received by then. */
  bytes: number;
  hasAsked: boolean;
  answers: Set<ServerResponse>;
}

/**
 * Maximum share of descriptors that may be open, and the share down to which idle connections are closed when it is
 * exceeded.
 */
const [FULL, RELIEVED] = [0.9, 0.8];
/** Above this share a new connection is closed at once: the rest is for the database, syncs and answers. */
const CRAMPED = 0.95;
const COUNT_EVERY_MS = 1_000;
const LOG_EVERY_MS = 60_000;
const ENDING_LOOK_MS = 50;

/**
 * Closes connections that wait too long without a request. Node limits the time of headers only from their first byte
 * on, so a connection that sends none, or only line breaks, would stay open forever; and near the limit of open files
 * no new connection could be accepted.
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
  // Before the app's handler, which may answer at once.
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
        // Clients that connect during shutdown send the request a round trip later.
        const isNew = state.since >= endingSince;
        if (isSilent && !isNew) socket.destroySoon();
        else if (now() - Math.max(state.since, endingSince) > times.endingMs) socket.destroySoon();
      } else if (state.hasAsked) {
        if (waitedMs > keepAliveMs + times.requestMs) socket.destroy();
      } else if (waitedMs > (isSilent ? times.firstByteMs : times.requestMs)) socket.destroy();
    }
  }

  /**
   * Near the limit of open files, closes the connections that have waited longest without a request. Returns the share
   * that stays open.
   */
  function relieve(): number {
    const { limit } = descriptors;
    if (limit === undefined) return 0;
    const isFull = () => others + open.size > limit * FULL;
    // Other open files are counted only when needed, and once a second: it reads a system folder.
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
    /** From now on each answer is the last of its connection, and connections without a request are closed. */
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

/** Counting opens a file itself: if that fails, assume the limit is reached. */
function countOpen(descriptors: Descriptors, limit: number): number {
  try {
    return descriptors.count();
  } catch {
    return limit;
  }
}

/** As reported by Linux; elsewhere the limit is unknown. */
function systemDescriptors(): Descriptors {
  try {
    const [, soft = ""] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return { limit: soft === "" ? undefined : Number(soft), count: () => readdirSync("/proc/self/fd").length };
  } catch {
    return { limit: undefined, count: () => 0 };
  }
}
