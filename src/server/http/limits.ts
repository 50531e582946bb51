import { ApiError, isApiError } from "#api/errors.ts";
import type { Actor, ConnectorCaller } from "#storage/access/actor.ts";
import type { Clock } from "#core/clock.ts";
import { isLocalAddress, throttleKeyOfIp } from "#net/client-ip.ts";
import { makeThrottle, type Rate, type Throttle } from "./throttle.ts";

/** Rate limits. Source: docs/limits.md#rates; S24. */
export const LIMITS = {
  "self-hosted": {
    /** All requests from one address. */
    address: { perMinute: 12_000, burst: 2_400 },
    /**
     * Routes without credentials, per address. Routes of the authorization server also per user of a session, and per
     * grant.
     */
    open: { perMinute: 300, burst: 100 },
    /** Unreadable bodies of requests without a credential, per address. */
    malformed: { perMinute: 60, burst: 30 },
    /** Notifications of apps, per address. The notifications of one app come from few addresses. */
    hooks: { perMinute: 1_200, burst: 300 },
    /** New OAuth clients, per address and for all addresses together. */
    registration: { perMinute: 10, burst: 10 },
    registrations: { perMinute: 60, burst: 60 },
    /** Tool calls. */
    mcpToken: { perMinute: 6_000, burst: 600 },
    mcpUser: { perMinute: 12_000, burst: 1_200 },
    mcpClient: { perMinute: 12_000, burst: 1_200 },
    mcpWorkspace: { perMinute: 30_000, burst: 3_000 },
    /** Requests to the REST API. */
    apiUser: { perMinute: 1_200, burst: 600 },
    apiWorkspace: { perMinute: 12_000, burst: 2_400 },
    /** Requests with one connector's key. */
    push: { perMinute: 1_200, burst: 600 },
  },
  managed: {
    address: { perMinute: 3_000, burst: 600 },
    open: { perMinute: 120, burst: 60 },
    malformed: { perMinute: 30, burst: 15 },
    hooks: { perMinute: 3_000, burst: 600 },
    registration: { perMinute: 10, burst: 10 },
    registrations: { perMinute: 60, burst: 60 },
    mcpToken: { perMinute: 600, burst: 60 },
    mcpUser: { perMinute: 1_200, burst: 120 },
    mcpClient: { perMinute: 3_000, burst: 300 },
    mcpWorkspace: { perMinute: 3_000, burst: 300 },
    apiUser: { perMinute: 300, burst: 150 },
    apiWorkspace: { perMinute: 3_000, burst: 600 },
    push: { perMinute: 600, burst: 120 },
  },
} as const satisfies Record<string, Record<string, Rate>>;

type LimitName = keyof (typeof LIMITS)["managed"];

/** The sender of a request: the credential of this server that the request contains, otherwise its address. */
export interface Sender {
  clientIp: string | null;
  shown?: string | undefined;
}

/** Counts requests and tool calls. */
export interface Limits {
  /** Counts a sender's request, before its credential is checked. @throws ApiError `rate_limited` */
  admit(request: Sender & { method: string; path: string }): void;
  /**
   * Counts a request that needs no credential. It counts by the credential of this server that the request contains (a
   * session's user, a token's grant, a known browser), so that strangers at the same address can't use up its limit.
   * Without one, it counts by address.
   *
   * @throws ApiError `rate_limited`
   */
  chargeOpen(sender: Sender): void;
  /** Records that a request without a credential had an unreadable body. */
  noteMalformed(sender: Sender): void;
  /** Milliseconds for which no further body of this sender is read, after too many unreadable ones. */
  findWaitForBodies(sender: Sender): number;
  /** Counts a request to the REST API. @throws ApiError `rate_limited` */
  chargeRequest(caller: { actor: Actor } | { connector: ConnectorCaller }): void;
  /** Counts a tool call. Returns how long to wait if it exceeds the limit, and whether it is far beyond the limit. */
  chargeCall(actor: Actor): { retryAfterMs: number; isHard: boolean } | undefined;
}

/**
 * Counts a request by its address. If that limit is used up, counts it by the credential of this server that the
 * request contains, so that strangers at the same address can't lock out known senders.
 *
 * @param charge throws ApiError `rate_limited` if the sender is over its limit
 * @throws ApiError `rate_limited`
 */
export async function chargeSender(
  charge: (sender: Sender) => void,
  clientIp: string | null,
  findShown: () => Promise<string | undefined>,
): Promise<void> {
  try {
    charge({ clientIp });
  } catch (error) {
    if (!isApiError(error, "rate_limited")) throw error;
    const shown = await findShown();
    if (shown === undefined) throw error;
    charge({ clientIp, shown });
  }
}

/**
 * Beyond five times the limit, the client isn't backing off. It gets HTTP 429 instead of a result for its model.
 * Source: B18.
 */
const HARD_FACTOR = 5;

/** Makes the token buckets of all limits, in the memory of this process. */
export function makeLimits(options: { mode: keyof typeof LIMITS; clock: Clock; isOff?: boolean }): Limits {
  if (options.isOff === true) return OFF;
  const { mode } = options;
  const take = makeTaker(LIMITS[mode], options.clock);
  const malformed = makeBuckets(LIMITS[mode].malformed, options.clock);
  const hard = makeBuckets(scaled(LIMITS[mode].mcpToken, HARD_FACTOR), options.clock);

  return {
    admit({ clientIp, shown, method, path }) {
      const address = throttleKeyOfIp(clientIp);
      // Behind a local proxy that isn't in the settings, all clients would share one address.
      const isExempt = mode === "self-hosted" && isLocalAddress(clientIp);
      if (!isExempt) refuseAfter(take("address", keyOfSender({ clientIp, shown })));
      if (path.startsWith("/hooks/")) refuseAfter(take("hooks", address));
      if (method === "POST" && path === "/oauth/register") {
        refuseAfter(take("registration", address) || take("registrations", "all"));
      }
    },
    chargeOpen(sender) {
      refuseAfter(take("open", keyOfSender(sender)));
    },
    noteMalformed(sender) {
      malformed.tryTake(keyOfSender(sender));
    },
    findWaitForBodies: (sender) => malformed.waitOf(keyOfSender(sender)),
    chargeRequest(caller) {
      if ("connector" in caller) return refuseAfter(take("push", caller.connector.connectorId));
      const { userId, workspaceId } = caller.actor;
      refuseAfter(take("apiUser", userId) || take("apiWorkspace", workspaceId));
    },
    chargeCall({ credential, userId, workspaceId }) {
      const token = `${credential.type}:${credential.id}`;
      const isHard = hard.tryTake(token) > 0;
      const client = credential.type === "oauth" ? take("mcpClient", `${workspaceId} ${credential.clientId}`) : 0;
      const waitMs = take("mcpToken", token) || take("mcpUser", userId) || client || take("mcpWorkspace", workspaceId);
      return waitMs > 0 ? { retryAfterMs: waitMs, isHard } : undefined;
    },
  };
}

const OFF: Limits = {
  admit: () => undefined,
  chargeOpen: () => undefined,
  noteMalformed: () => undefined,
  findWaitForBodies: () => 0,
  chargeRequest: () => undefined,
  chargeCall: () => undefined,
};

function makeTaker(rates: Record<LimitName, Rate>, clock: Clock): (name: LimitName, key: string) => number {
  const throttles = new Map(Object.entries(rates).map(([name, rate]) => [name, makeBuckets(rate, clock)]));
  return (name, key) => throttles.get(name)?.tryTake(key) ?? 0;
}

function makeBuckets(rate: Rate, clock: Clock): Throttle {
  return makeThrottle({ ...rate, clock, message: "" });
}

function scaled({ perMinute, burst }: Rate, factor: number): Rate {
  return { perMinute: perMinute * factor, burst: burst * factor };
}

function keyOfSender({ clientIp, shown }: Sender): string {
  return shown === undefined ? throttleKeyOfIp(clientIp) : `shown ${shown}`;
}

/** @throws ApiError `rate_limited` unless `waitMs` is 0 */
export function refuseAfter(waitMs: number): void {
  if (waitMs === 0) return;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new ApiError("rate_limited", {
    message: `Too many requests. Wait ${seconds} ${seconds === 1 ? "second" : "seconds"}, then try again.`,
    retryAfterMs: waitMs,
  });
}
