import { Agent as PlainAgent, request as requestPlain, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as TlsAgent, request as requestTls } from "node:https";
import { connect as connectPlain, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import { ApiError } from "#api/errors.ts";
import { configuredPlaces } from "./configured-places.ts";
import { type AddressGuard, type NetworkTarget, type PinnedAddress, resolveUrl } from "./address-guard.ts";

export interface Sending {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  signal: AbortSignal;
  /** From the connection to the headers. If absent, only the signal ends the wait. */
  timeoutMs?: number;
}

/** A client that connects only to checked addresses. It uses no proxy from the environment. */
export type GuardedClient = ReturnType<typeof makeGuardedClient>;

/** Whether hosts on the operator's list can be reached, too. */
export type Reach = Pick<NetworkTarget, "configured">;

export interface GuardedClientOptions {
  guard: AddressGuard;
  /**
   * Keeps connections open between requests, each only for the host and the address it was checked for. A check is then
   * valid for a minute.
   */
  keepsConnections: boolean;
}

/** How long a check is valid. The address is pinned, so a name that changes in the meantime doesn't redirect the connection. */
const JUDGED_FOR_MS = 60_000;
/** An idle connection is closed after this; a shorter time announced by the server applies instead. */
const IDLE_MS = 30_000;
/** Connections to one address of one host. */
const MAX_CONNECTIONS = 16;

/** Makes the client. Source: S39. */
export function makeGuardedClient({ guard, keepsConnections }: GuardedClientOptions) {
  const agents = keepsConnections ? { plain: new PinnedPlainAgent(KEPT), tls: new PinnedTlsAgent(KEPT) } : undefined;
  const judged = new LRUCache<string, Promise<PinnedAddress>>({ ...atMost(1_000), ttl: JUDGED_FOR_MS });
  return {
    /** Resolves and checks a URL's address. @throws ApiError as `resolveUrl` */
    resolve(url: URL, { configured }: Reach): Promise<PinnedAddress> {
      if (agents === undefined) return resolveUrl(guard, url, configured);
      const isConfigured = [...configuredPlaces([url])].every((place) => configured.has(place));
      const key = `${url.origin} ${isConfigured} ${url.username === "" && url.password === ""}`;
      const known = judged.get(key);
      if (known !== undefined) return known;
      const judging = resolveUrl(guard, url, configured);
      judged.set(key, judging);
      judging.catch(() => judged.delete(key));
      return judging;
    },
    /** Checks a host for a protocol other than HTTP. @throws ApiError as `AddressGuard.resolve` */
    resolveHost: (target: NetworkTarget): Promise<PinnedAddress> => guard.resolve(target),
    /** Sends a request to the address; resolves when the response's headers arrive. Rejects with Node's error. */
    send: (url: URL, pinned: PinnedAddress, sending: Sending): Promise<IncomingMessage> =>
      send(url, pinned, sending, url.protocol === "https:" ? agents?.tls : agents?.plain),
    /** Opens a separate connection to the address. Rejects with Node's error. */
    open,
    /** Closes the kept connections. */
    close(): void {
      agents?.plain.destroy();
      agents?.tls.destroy();
    },
  };
}

const KEPT = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS, scheduling: "lifo" } as const;

/** Additional keys that distinguish kept connections, besides Node's own. */
interface Pinned {
  pin?: string;
}

class PinnedPlainAgent extends PlainAgent {
  override getName(options: Parameters<PlainAgent["getName"]>[0] & Pinned): string {
    return `${super.getName(options)}:${options?.pin ?? ""}`;
  }
}

class PinnedTlsAgent extends TlsAgent {
  override getName(options: Parameters<TlsAgent["getName"]>[0] & Pinned): string {
    return `${super.getName(options)}:${options?.pin ?? ""}`;
  }
}

function send(
  url: URL,
  pinned: PinnedAddress,
  sending: Sending,
  agent: PlainAgent | TlsAgent | undefined,
): Promise<IncomingMessage> {
  const options: RequestOptions & Pinned = {
    method: sending.method ?? "GET",
    headers: { ...sending.headers },
    signal: sending.signal,
    agent: agent ?? false,
    lookup: lookupOf(pinned),
    pin: pinned.address,
  };
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const sent = (url.protocol === "https:" ? requestTls : requestPlain)(url, options, (message) => {
      clearTimeout(timer);
      resolve(message);
    });
    sent.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    // The time spent on waiting for a free connection isn't the server's fault.
    sent.on("socket", () => {
      const { timeoutMs } = sending;
      if (timeoutMs === undefined) return;
      timer = setTimeout(() => sent.destroy(tooSlow(url.host)), timeoutMs);
    });
    sent.end(sending.body);
  });
}

function open(
  pinned: PinnedAddress,
  { tls, signal, timeoutMs }: { tls: boolean; signal: AbortSignal; timeoutMs: number },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const { host, port, address } = pinned;
    const socket = tls
      ? connectTls({ host: address, port, ...(host !== address && { servername: host }) })
      : connectPlain({ host: address, port });
    const timer = setTimeout(() => socket.destroy(tooSlow(host)), timeoutMs);
    const abort = () => socket.destroy(new Error("aborted"));
    signal.addEventListener("abort", abort, { once: true });
    socket.once("close", () => signal.removeEventListener("abort", abort));
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once(tls ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

function lookupOf({ address, family }: PinnedAddress): LookupFunction {
  return (_host, { all }, done) => {
    if (all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

function tooSlow(host: string): ApiError {
  return new ApiError("source_unavailable", { message: `${host} took too long.` });
}
