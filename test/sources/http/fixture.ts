import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { makeAddressGuard } from "#net/address-guard.ts";
import type { AccountTokens, AuthWay } from "#sources/http-contract.ts";
import { makeSourceHttpPool, type HttpGrant } from "#sources/http/pool.ts";
import { asPublic } from "../../net/everywhere.ts";

/** A request as the server got it. */
export interface Got {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Answer = (got: Got, response: ServerResponse) => void | Promise<void>;

/** A real server on loopback that remembers what it got. */
export async function serve(answer: Answer) {
  const requests: Got[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "", url: path = "", headers } = request;
      const got = { method, path, headers, body: await text(request) };
      requests.push(got);
      // The clock of the tests is another one: what tells a date says so.
      response.sendDate = false;
      await answer(got, response);
    })();
  });
  server.on("connection", () => void connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A listening server over TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    port,
    /** Two names for one machine are two origins. */
    origin: `http://127.0.0.1:${port}`,
    otherName: `http://other.test:${port}`,
    connections: () => connections,
    authorizations: () => requests.map(({ headers }) => headers.authorization),
  };
}

/** Answers with this. */
export function say(status: number, body: unknown = "", headers: Record<string, string> = {}): Answer {
  return (_got, response) =>
    void response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
}

/** One answer after the other; the last again and again. */
export function inTurn(...answers: Answer[]): Answer {
  let at = 0;
  return (got, response) => answers[Math.min(at++, answers.length - 1)]?.(got, response);
}

export const BEARER: AuthWay = { type: "credentials", scheme: "bearer", token: "token" };

interface OutOptions {
  /** The servers it may reach; the first one is its own. */
  servers: readonly { port: number }[];
  auth?: readonly AuthWay[];
  spec?: Partial<HttpGrant["source"]["spec"]>;
  config?: Record<string, unknown>;
  originOf?: HttpGrant["source"]["originOf"];
  credentials?: Record<string, string>;
  account?: AccountTokens;
  signal?: AbortSignal;
  isRun?: true;
}

/** A pool over these servers, on a clock that moves only when somebody sleeps. */
export function makePool(
  servers: readonly { port: number }[],
  options: { names?: Record<string, string[]>; listed?: readonly string[] } = {},
) {
  const clock = { now: 1_800_000_000_000 };
  const slept: number[] = [];
  const names: Record<string, string[]> = { "other.test": ["127.0.0.1"], ...options.names };
  const lookedUp: string[] = [];
  const guard = makeAddressGuard({
    privateHosts: options.listed ?? servers.flatMap(({ port }) => [`127.0.0.1:${port}`, `other.test:${port}`]),
    isOwn: () => false,
    lookup: async (host) => {
      lookedUp.push(host);
      return (names[host] ?? []).map((address) => ({ address, family: 4 }));
    },
  });
  const pool = makeSourceHttpPool({
    // Unless a test is about what the operator listed, its servers are somewhere on the internet.
    guard: options.listed ? guard : asPublic(guard),
    now: () => clock.now,
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      slept.push(ms);
      clock.now += ms;
    },
    random: () => 1,
  });
  onTestFinished(() => pool.close());
  const open = ({ servers: own, auth = [BEARER], spec, ...more }: OutOptions) => {
    const config = more.config ?? { url: `http://127.0.0.1:${own[0]?.port}` };
    return pool.for({
      // A config that a test gives has a URL, or no origin.
      source: { spec: { auth, ...spec }, originOf: more.originOf ?? ((value) => (value as { url: string }).url) },
      config,
      credentials: more.credentials ?? { token: SECRET },
      signal: more.signal ?? new AbortController().signal,
      ...(more.account && { account: more.account }),
      ...(more.isRun && { isRun: true }),
    });
  };
  return { pool, clock, slept, lookedUp, open };
}

export const SECRET = "kb-canary-5b1e77";

/** A server and the way out of a connector to it. */
export async function connectTo(answer: Answer, options: Omit<OutOptions, "servers"> = {}) {
  const server = await serve(answer);
  const made = makePool([server]);
  return { server, ...made, ...made.open({ servers: [server], ...options }) };
}

/** What the code of a failure is. */
export function failing(code: string, more: Record<string, unknown> = {}) {
  return { code, ...more };
}
