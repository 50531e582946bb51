import { unavailable } from "#sources/errors.ts";
import { createHmac, randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import { configuredPlaces } from "#net/configured-places.ts";
import { makeGuardedClient } from "#net/guarded-client.ts";
import { parseUrl } from "#net/redirects.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceSpec } from "#sources/contract.ts";
import type {
  AccountTokens,
  AuthWay,
  SourceHttp,
  SourceRequest,
  SourceResponse,
  SourceStream,
} from "#sources/http-contract.ts";
import { headersOf, makeResponse, readPieces, readWhole } from "./body.ts";
import { type AbortableSleep, makeBuckets } from "./buckets.ts";
import { type Exchange, exchange, type Line } from "./exchange.ts";
import { makeTokenCache, MintAnswer, type MintedToken, toMinted } from "./minted.ts";
import { gitOrigins, secretPlaces, type Signing, signedOrigins, templateValues } from "./origins.ts";
import { makeRepeats } from "./repeats.ts";
import { makeSigner, type Signer, type SigningState } from "./signers.ts";
import { makeConnect } from "./socket.ts";
import { refusalOf } from "#sources/failures.ts";

/** The config, credentials and signal that a source's requests use. */
export interface HttpGrant {
  source: Signing & { spec: Pick<SourceSpec<unknown>, "limits" | "ports" | "readsGit"> };
  /** The config, parsed by the source's schema. */
  config: unknown;
  credentials: Readonly<Record<string, string>>;
  account?: AccountTokens;
  signal: AbortSignal;
  /**
   * True = the requests belong to a run, which waits through a short outage of a server. For people who wait for an
   * answer, the request fails sooner.
   */
  isRun?: true;
}

export interface SourceHttpOptions {
  guard: AddressGuard;
  now(): number;
  /** Real time by default. */
  sleep?: AbortableSleep;
  /** Returns a number from 0 to 1, to spread the retries. */
  random?(): number;
}

export type SourceHttpPool = ReturnType<typeof makeSourceHttpPool>;

/**
 * Makes the resources that all sources of a server share: connections, the rate limit of each credential at each host,
 * and tokens. `for` returns a connector's client.
 */
export function makeSourceHttpPool({ guard, now, sleep = sleepFor, random = Math.random }: SourceHttpOptions) {
  const client = makeGuardedClient({ guard, keepsConnections: true });
  const buckets = makeBuckets({ now, sleep });
  const refreshing: SigningState["refreshing"] = new Map();
  const states = new LRUCache<string, SigningState>(atMost(20_000));
  // With this random secret, a credential can't be derived from its key.
  const secret = randomBytes(32);

  function stateOf(key: string): SigningState {
    const known = states.get(key);
    if (known) return known;
    const made: SigningState = { tokens: makeTokenCache(now), nonces: new Map(), refreshing };
    states.set(key, made);
    return made;
  }

  return {
    /** Returns the source's part of its context: requests, connections, and credentials for the git program. */
    for(grant: HttpGrant): Pick<SourceContext<unknown>, "http" | "connect" | "git"> {
      const { source, config, credentials, account, signal, isRun } = grant;
      const { auth, limits = {}, ports } = source.spec;
      const entries = Object.entries(credentials).sort(([a], [b]) => (a < b ? -1 : 1));
      const signedBy = JSON.stringify([account?.key ?? null, entries]);
      const key = createHmac("sha256", secret).update(signedBy).digest("base64url");
      const named = signedOrigins(source, config);
      // An account's token is sent only to the account's own instance, regardless of the config. Source: S31.
      const allowed = (some: ReadonlySet<string>) =>
        account ? new Set(account.origins.filter((origin) => some.has(origin))) : some;
      const origins = allowed(named);
      // Every connector, not only an admin's, can reach the addresses that the operator has listed. It can reach no
      // other addresses than those in its config.
      const reach = { configured: configuredPlaces(secretPlaces(source, config).split(" ")) };
      const repeats = isRun ? makeRepeats() : undefined;
      const shared = { client, reach, limits, now, sleep, random, origins, repeats };
      const mintLine: Line = {
        ...shared,
        signal: new AbortController().signal,
        signerOf: () => undefined,
        bucketOf: (host) => buckets.of(key, host),
        count: () => undefined,
      };
      const signing = { ways: auth, credentials, account, values: templateValues(config), state: stateOf(key), now };
      const makeLine = (until: AbortSignal, count: () => void): Line => ({
        ...shared,
        signal: until,
        signerOf: (who) => makeSigner({ ...signing, mint: (url, make) => mint(mintLine, url, make) }, who),
        bucketOf: (host, isSigned) => buckets.of(isSigned ? key : "", host),
        count,
      });
      return {
        http: makeHttp(makeLine, signal),
        ...(ports && {
          connect: makeConnect({
            client,
            reach,
            usualPorts: ports,
            signal,
            origins,
            ways: auth,
            credentials,
            account,
          }),
        }),
        ...(auth.some(isGit) && { git: { credentialsFor: async () => credentials } }),
        ...(source.spec.readsGit && {
          git: {
            async credentialsFor(url) {
              const remote = parseUrl(url);
              if (!allowed(gitOrigins(source, config)).has(remote.origin)) throw notAllowed(remote.host);
              return tokenOf(makeLine(signal, () => undefined).signerOf(true), remote);
            },
          },
        }),
      };
    },
    /**
     * Returns all places that the source's credentials are sent to with this config, as one text that is only for
     * comparison.
     */
    secretPlaces,
    /** Closes idle connections. */
    close: () => client.close(),
  };
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_STREAM_BYTES = 1024 * 1024 * 1024;
/** The factor by which reading a whole body may take longer than the timeout for a silent server. */
const PATIENCE = 10;
const MAX_STREAM_MS = 3_600_000;
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "SEARCH", "PUT", "DELETE"]);
const USER_AGENT = "kb-connector-search";

function makeHttp(
  makeLine: (until: AbortSignal, count: () => void) => Line,
  signal: AbortSignal,
  counter = { sent: 0 },
): SourceHttp {
  // Every request adds a listener, and Node warns of a leak above ten.
  setMaxListeners(0, signal);
  const line = makeLine(signal, () => void counter.sent++);
  const request = async (wanted: SourceRequest): Promise<SourceResponse> => {
    const { maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS } = wanted;
    const limits = { maxBytes, timeoutMs, totalMs: timeoutMs * PATIENCE };
    const done = await exchange(line, toExchange(wanted), (message, { url, method }) =>
      readWhole(message, url.host, { ...limits, method }),
    );
    const head = { status: done.status, headers: headersOf(done.message), url: done.url.href };
    return makeResponse(head, done.body, done.url.host);
  };
  return {
    request,
    async stream(wanted): Promise<SourceStream> {
      const { maxBytes = MAX_STREAM_BYTES, timeoutMs = TIMEOUT_MS } = wanted;
      const limits = { maxBytes, timeoutMs, totalMs: MAX_STREAM_MS };
      const done = await exchange(line, toExchange(wanted), async (message, { method }) => ({ message, method }));
      const pieces = readPieces(done.message, done.url.host, { ...limits, method: done.body.method });
      const body = untilAborted(pieces, signal, done.url.host);
      return { status: done.status, headers: headersOf(done.message), url: done.url.href, body };
    },
    async *pages(first, next) {
      const asked = new Set<string>();
      for (let wanted: SourceRequest | undefined = first; wanted !== undefined;) {
        requireNew(toExchange(wanted), asked);
        const page: SourceResponse = await request(wanted);
        yield page;
        const following = await next(page);
        wanted = typeof following === "string" ? sameAt(wanted, parseUrl(following, new URL(page.url))) : following;
      }
    },
    get sent() {
      return counter.sent;
    },
    until: (other) => makeHttp(makeLine, other, counter),
  };
}

function isGit(way: AuthWay): boolean {
  return way.type === "credentials" && way.scheme === "git";
}

function notAllowed(host: string): ApiError {
  return new ApiError("address_not_allowed", { message: `The credentials of this connector are not for ${host}.` });
}

/** Returns the token header of a request to this URL, if the request is signed with a token. */
async function tokenOf(signer: Signer | undefined, url: URL): Promise<Readonly<Record<string, string>>> {
  const signed = await signer?.sign({ method: "GET", url, headers: {}, body: undefined });
  const [, token] = /^(?:Bearer|token) (\S+)$/.exec(signed?.headers["authorization"] ?? "") ?? [];
  return token === undefined ? {} : { token };
}

type MintRequest = { headers: Record<string, string>; body?: string };

/**
 * Mints a token. If the server refuses an assertion signed with our clock, one retry uses the server's clock, because
 * assertions are valid only for minutes.
 */
async function mint(line: Line, url: string, make: (now: number) => MintRequest): Promise<MintedToken> {
  const { host } = new URL(url);
  const now = line.now();
  const first = await mintOnce(line, url, make(now));
  if (!isApiError(first)) return first;
  const ahead = aheadOf(dateIn(first), now);
  const second = ahead === 0 ? first : await mintOnce(line, url, make(now + ahead));
  if (!isApiError(second)) return second;
  const clock = `This server's clock is ${Math.round(Math.abs(ahead) / 60_000)} minutes off from that of ${host}: correct it.`;
  throw new ApiError("source_unauthorized", {
    message: `${host} issues no token for these credentials.${ahead === 0 ? "" : ` ${clock}`}`,
    field: "credentials",
    cause: second,
  });
}

/** Returns the token, or the refusal. @throws ApiError for failures that don't concern the credentials */
async function mintOnce(line: Line, url: string, request: MintRequest): Promise<MintedToken | ApiError> {
  const wanted: SourceRequest = {
    method: "POST",
    url,
    isIdempotent: true,
    redirect: "none",
    keepHeaders: ["date"],
    ...request,
  };
  const place = { ...toExchange(wanted), isSecret: true } as const;
  const limits = { maxBytes: 1024 * 1024, timeoutMs: TIMEOUT_MS, totalMs: TIMEOUT_MS, method: "POST" };
  try {
    const done = await exchange(line, place, (message) => readWhole(message, place.url.host, limits));
    const head = { status: done.status, headers: headersOf(done.message), url };
    const now = line.now();
    const ahead = aheadOf(head.headers.get("date"), now);
    return toMinted(makeResponse(head, done.body, place.url.host).json(MintAnswer), now, ahead);
  } catch (error) {
    // The credential is no longer accepted, regardless of the exact status.
    const isRefusal = refusalOf(error) !== undefined || statusOf(error) === 400;
    if (!isRefusal || !isApiError(error)) throw error;
    return error;
  }
}

/** The tolerated clock difference, which includes the time until a response arrives. */
const LEAST_AHEAD_MS = 30_000;

function aheadOf(date: unknown, now: number): number {
  const at = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return Math.abs(at - now) > LEAST_AHEAD_MS ? at - now : 0;
}

function dateIn({ details }: ApiError): unknown {
  const headers: unknown = details?.["headers"];
  return typeof headers === "object" && headers !== null && "date" in headers ? headers.date : undefined;
}

function statusOf(error: unknown): unknown {
  return isApiError(error) ? error.details?.["status"] : undefined;
}

function toExchange(wanted: SourceRequest): Exchange {
  const url = typeof wanted.url === "string" ? parseUrl(wanted.url) : new URL(wanted.url);
  for (const [name, value] of Object.entries(wanted.query ?? {})) {
    for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
  }
  url.hash = "";
  const method = (wanted.method ?? "GET").toUpperCase();
  const body = wanted.json === undefined ? wanted.body : JSON.stringify(wanted.json);
  return {
    method,
    url,
    headers: {
      "user-agent": USER_AGENT,
      // A range of a compressed body can't be decompressed.
      "accept-encoding": hasHeader(wanted.headers, "range") ? "identity" : "gzip, br",
      ...(wanted.json !== undefined && { "content-type": "application/json" }),
      ...lowerCased(wanted.headers),
    },
    ...(body !== undefined && { body: Buffer.from(body) }),
    auth: wanted.auth,
    isIdempotent: wanted.isIdempotent ?? IDEMPOTENT.has(method),
    redirect: wanted.redirect ?? "same_origin",
    allow: wanted.allow ?? [],
    expired: wanted.expired ?? [],
    ...(wanted.keepHeaders && { keepHeaders: wanted.keepHeaders }),
    timeoutMs: wanted.timeoutMs ?? TIMEOUT_MS,
  };
}

function lowerCased(headers: SourceRequest["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function hasHeader(headers: SourceRequest["headers"], name: string): boolean {
  return Object.hasOwn(lowerCased(headers), name);
}

/** Returns the same request for another URL, which already contains its query. */
function sameAt({ query: _query, ...rest }: SourceRequest, url: URL): SourceRequest {
  return { ...rest, url };
}

/**
 * Checks that a page is requested for the first time.
 * @throws ApiError `source_unavailable` for a page that was already requested, since the listing would never end
 */
function requireNew({ method, url, body }: Exchange, asked: Set<string>): void {
  const page = createHmac("sha256", "page")
    .update(`${method} ${url.href}\n`)
    .update(body ?? "")
    .digest("base64url");
  if (asked.has(page)) {
    throw unavailable(`${url.host} keeps sending the same page.`);
  }
  asked.add(page);
}

/** Yields the chunks. When the signal aborts, throws its reason, as every method of a context does. */
async function* untilAborted(
  pieces: AsyncGenerator<Uint8Array, void>,
  signal: AbortSignal,
  host: string,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* pieces;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new ApiError("source_unavailable", { message: `The connection to ${host} broke.`, cause: error });
  }
}

async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
