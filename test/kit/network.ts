import { setImmediate as breath } from "node:timers/promises";
import { ApiError } from "#api/errors.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import type { SourceHttp } from "#sources/http-contract.ts";
import { type HttpGrant, makeSourceHttpPool } from "#sources/http/pool.ts";
import type { SourceContext } from "#sources/context.ts";
import { type Rewrite, rewriting } from "./answers.ts";

/** Lets sources reach this machine where their config says so, and nothing else: remotes of tests are here. */
export const thisMachine: AddressGuard = {
  async resolve({ host, port, configured }) {
    if (configured.has(`${host}:${port}`)) return this.resolveConfigured({ host, port });
    throw new ApiError("address_not_allowed", { message: `No config of the kit names ${host}:${port}.` });
  },
  async resolveConfigured({ host, port }) {
    if (host === "127.0.0.1" || host === "localhost")
      return { host, port, address: "127.0.0.1", family: 4, isListed: true };
    throw new ApiError("address_not_allowed", { message: `The kit reaches only this machine, not ${host}.` });
  },
};

const clock = { now: Date.now() };

/** Waits that a provider asks for take no time here. */
const pool = makeSourceHttpPool({
  guard: thisMachine,
  now: () => clock.now,
  sleep: async (ms, signal) => {
    signal.throwIfAborted();
    clock.now += ms;
    await breath();
  },
  random: () => 1,
});

/** The ways out of a source, the server's own; `onCall` hears of each use, and `rewrite` changes what comes back. */
export function openWays(
  grant: HttpGrant,
  onCall: () => void,
  rewrite?: Rewrite,
): Pick<SourceContext<unknown>, "http" | "connect" | "git"> {
  const ways = pool.for(grant);
  const http = listening(ways.http, onCall);
  return { ...ways, http: rewrite ? rewriting(http, rewrite) : http };
}

function listening(http: SourceHttp, onCall: () => void): SourceHttp {
  return {
    async request(request) {
      onCall();
      // A source that asks again and again must not keep the test from seeing it.
      await breath();
      return http.request(request);
    },
    async stream(request) {
      onCall();
      await breath();
      return http.stream(request);
    },
    pages: (first, next) => (onCall(), http.pages(first, next)),
    get sent() {
      return http.sent;
    },
    until: (signal) => listening(http.until(signal), onCall),
  };
}
