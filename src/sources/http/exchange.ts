import { unavailable } from "#sources/errors.ts";
import type { IncomingMessage } from "node:http";
import { ApiError } from "#api/errors.ts";
import { isLoopbackAddress } from "#net/addresses.ts";
import type { PinnedAddress } from "#net/address-guard.ts";
import type { GuardedClient, Reach } from "#net/guarded-client.ts";
import { afterRedirect, parseUrl, REDIRECTS } from "#net/redirects.ts";
import type { LimitSpec, RequestAuth } from "#sources/http-contract.ts";
import { drain } from "./body.ts";
import { type AbortableSleep, type Bucket, LONGEST_WAIT_MS, rateLimited } from "./buckets.ts";
import { cursorExpired, failureOf, isBroken, unreachable } from "./failures.ts";
import { exhaustedUntil, isForbiddenALimit, retryAfterOf } from "./limits.ts";
import type { Repeats } from "./repeats.ts";
import type { Signed, Signer } from "./signers.ts";

/** The dependencies that all requests of one context share. */
export interface Line {
  client: GuardedClient;
  reach: Reach;
  limits: LimitSpec;
  signal: AbortSignal;
  now(): number;
  sleep: AbortableSleep;
  /** Returns a random number from 0 to 1. */
  random(): number;
  /** The origins for which requests may be signed. */
  origins: ReadonlySet<string>;
  /** Returns the signer; undefined if the source is used without signing in. */
  signerOf(auth: RequestAuth): Signer | undefined;
  /** Returns the bucket of the context's credential if `isSigned`, otherwise the bucket of unauthenticated requests. */
  bucketOf(host: string, isSigned: boolean): Bucket;
  /** Counts a sent request. */
  count(): void;
  /**
   * The budget of a run for retries after transient failures. Without a budget, only the failure of a gateway is
   * retried.
   */
  repeats: Repeats | undefined;
}

/** A request with all values set. */
export interface Exchange {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array;
  auth: RequestAuth | undefined;
  /** True = the request contains a secret although it isn't signed, such as a request for a token. */
  isSecret?: true;
  isIdempotent: boolean;
  redirect: "same_origin" | "follow" | "none";
  allow: readonly number[];
  expired: readonly number[];
  keepHeaders?: readonly string[];
  timeoutMs: number;
}

export interface Exchanged<Body> {
  status: number;
  message: IncomingMessage;
  url: URL;
  body: Body;
}

/** The most times that a request is sent. */
const MAX_TRIES = 5;
const MAX_REDIRECTS = 5;
const FIRST_BACK_OFF_MS = 500;

/**
 * Sends a request: waits for its turn, signs it, retries, and follows redirects. `read` reads the body of the response
 * that the source gets. If the connection breaks while the body is read, an idempotent request is retried too.
 *
 * @throws ApiError the errors of `SourceHttp`; the signal's reason once the signal is aborted
 */
export async function exchange<Body>(
  line: Line,
  first: Exchange,
  read: (message: IncomingMessage, exchange: Exchange) => Promise<Body>,
): Promise<Exchanged<Body>> {
  let request = first;
  for (let left = MAX_REDIRECTS; ; left--) {
    requireSignable(line, request);
    const answered = await tryOften(line, request, read);
    if (!("location" in answered)) return answered;
    const next = parseUrl(answered.location, request.url);
    const isSameOrigin = next.origin === request.url.origin;
    if (!isSameOrigin && request.redirect !== "follow") throw redirected(request.url, next);
    if (left <= 0) {
      throw unavailable(`${request.url.host} redirects too many times.`);
    }
    const after = afterRedirect({ ...request }, answered.status, { from: request.url, to: next });
    request = { ...after, url: next, auth: line.origins.has(next.origin) ? request.auth : undefined };
  }
}

type Attempt<Body> = Exchanged<Body> | { status: number; location: string };

async function tryOften<Body>(
  line: Line,
  request: Exchange,
  read: (message: IncomingMessage, exchange: Exchange) => Promise<Body>,
): Promise<Attempt<Body>> {
  const { url, isIdempotent } = request;
  const { host } = url;
  const signer = request.auth === undefined ? undefined : line.signerOf(request.auth);
  const bucket = line.bucketOf(host, signer !== undefined);
  let hasRenewed = false;
  let wasAsked = false;
  for (let tries = 1; ; tries++) {
    await bucket.take(line.limits, line.signal);
    const mayRepeat = isIdempotent && tries < MAX_TRIES;
    let signed: Signed | undefined;
    let message: IncomingMessage;
    try {
      ({ signed, message } = await sendOnce(line, request, signer));
    } catch (error) {
      line.signal.throwIfAborted();
      if (!mayRepeat || !isBroken(error)) throw unreachable(host, error);
      await line.sleep(backOffMs(line, tries), line.signal);
      continue;
    }
    const step = await judge(line, request, message, bucket);
    switch (step.type) {
      case "take":
        try {
          return { status: step.status, message, url, body: await read(message, request) };
        } catch (error) {
          line.signal.throwIfAborted();
          if (!mayRepeat || !isBroken(error)) throw unreachable(host, error);
          await line.sleep(backOffMs(line, tries), line.signal);
          continue;
        }
      case "redirect":
        return step;
      case "limited": {
        const waitMs = Math.max(step.waitMs ?? 0, backOffMs(line, tries));
        bucket.block(line.now() + waitMs);
        if (!mayRepeat || waitMs > LONGEST_WAIT_MS) throw rateLimited(host, waitMs, step.status);
        continue;
      }
      case "refused":
        // The request is repeated once to get a challenge, and once because a token or a challenge was too old. A
        // refused request has had no effect yet.
        if (signer && signed && !(signed.used === undefined ? wasAsked : hasRenewed)) {
          if (signed.used === undefined) wasAsked = true;
          else hasRenewed = true;
          if (await abortable(signer.renew(signed, url.origin, step.challenge), line.signal)) continue;
        }
        throw failureOf(401, host, { isSigned: request.auth !== undefined, headers: step.headers });
      case "failed":
        await line.sleep(waitAfter(line, request, step, tries), line.signal);
        continue;
    }
  }
}

/** Returns the wait before the next try. @throws the failure if it is final */
function waitAfter(line: Line, { isIdempotent }: Exchange, step: Failed, tries: number): number {
  const { status = 0, retryAfterMs, error } = step;
  const mayRepeat = isIdempotent && (line.repeats ? PASSING : GATEWAY).has(status);
  if (!mayRepeat) throw error;
  const usual = tries < MAX_TRIES ? backOffMs(line, tries) : undefined;
  const waitMs = line.repeats ? line.repeats.waitAfter(tries, retryAfterMs) : usual;
  if (waitMs === undefined) throw error;
  return waitMs;
}

async function sendOnce(
  { client, reach, signal, count }: Line,
  request: Exchange,
  signer: Signer | undefined,
): Promise<{ signed: Signed | undefined; message: IncomingMessage }> {
  const { url, method, headers, body, timeoutMs } = request;
  const pinned = await abortable(client.resolve(url, reach), signal);
  if (signer || request.isSecret) requireSafe(url, pinned);
  const signed = signer && (await abortable(signer.sign({ method, url, headers, body }), signal));
  count();
  const message = await client.send(url, pinned, {
    method,
    headers: signed ? withHeaders(headers, signed.headers) : headers,
    ...(body && { body }),
    signal,
    timeoutMs,
  });
  return { signed, message };
}

type Step =
  | { type: "take"; status: number }
  | { type: "redirect"; status: number; location: string }
  | { type: "limited"; status: number; waitMs: number | undefined }
  | { type: "refused"; challenge: string; headers: Readonly<Record<string, unknown>> }
  | Failed;

interface Failed {
  type: "failed";
  error: ApiError;
  /** Absent = another try would fail in the same way. */
  status?: number;
  retryAfterMs?: number | undefined;
}

const GATEWAY = new Set([502, 503, 504]);
/** Statuses of temporary failures. 501, 505, 507 and 508 are left out, because they are permanent. */
const PASSING = new Set([408, 500, ...GATEWAY]);

/** Decides what to do with a response. A body that the source doesn't get is drained. */
async function judge(
  { limits, now, origins }: Line,
  request: Exchange,
  message: IncomingMessage,
  bucket: Bucket,
): Promise<Step> {
  const status = message.statusCode ?? 0;
  const { headers } = message;
  const { url, allow, expired, method } = request;
  const isOwn = origins.has(url.origin);
  const emptyUntil = isOwn ? exhaustedUntil(headers, limits, now()) : undefined;
  if (emptyUntil !== undefined) bucket.block(emptyUntil);
  if ((status >= 200 && status < 300) || allow.includes(status)) return { type: "take", status };
  const body = await drain(message, url.host, method);
  const { location } = headers;
  if (REDIRECTS.has(status) && location !== undefined && request.redirect !== "none") {
    return { type: "redirect", status, location };
  }
  if (expired.includes(status)) return { type: "failed", error: cursorExpired(status, url.host) };
  const retryAfterMs = retryAfterOf(headers, now());
  const isLimit =
    status === 429 ||
    (status === 503 && retryAfterMs !== undefined) ||
    ((status === 403 || status === 503) &&
      isOwn &&
      isForbiddenALimit(headers, Buffer.from(body).toString("utf8"), limits));
  if (isLimit) {
    const waitMs = retryAfterMs ?? (emptyUntil === undefined ? limits.leastWaitMs : emptyUntil - now());
    return { type: "limited", status, waitMs };
  }
  const kept = (request.keepHeaders ?? []).flatMap((name) =>
    headers[name] === undefined ? [] : [[name, headers[name]]],
  );
  const shown = Object.fromEntries(kept);
  if (status === 401) return { type: "refused", challenge: headers["www-authenticate"] ?? "", headers: shown };
  const error = failureOf(status, url.host, {
    isSigned: request.auth !== undefined,
    headers: shown,
  });
  return { type: "failed", error, status, retryAfterMs };
}

/**
 * Checks the origin of a request.
 * @throws ApiError `address_not_allowed` for a signed request to an origin that isn't the connector's
 */
function requireSignable({ origins }: Line, { auth, url }: Exchange): void {
  if (auth === undefined || origins.has(url.origin)) return;
  throw new ApiError("address_not_allowed", {
    message: `The connector's credentials are not for ${url.host}. Nothing was sent there.`,
  });
}

/**
 * Checks that a secret can be sent safely.
 * @throws ApiError `address_not_allowed` for a secret that would be sent unencrypted through a network
 */
function requireSafe(url: URL, { address, isListed }: PinnedAddress): void {
  if (url.protocol === "https:" || isListed || isLoopbackAddress(address)) return;
  throw new ApiError("address_not_allowed", {
    message: `Credentials can't be sent to ${url.host} over plain http. Use https.`,
    hint: `The operator can allow it: KB_ALLOW_PRIVATE_HOSTS=${url.hostname}:${url.port === "" ? 80 : url.port}`,
  });
}

function redirected(from: URL, to: URL): ApiError {
  return unavailable(`${from.host} redirects to ${to.host}, a different host. If it moved, connect its new address.`);
}

/** Adds headers. Signed headers replace the source's own headers of the same name in any case. */
function withHeaders(
  existing: Readonly<Record<string, string>>,
  signed: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(signed).map((name) => name.toLowerCase()));
  const kept = Object.entries(existing).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...signed };
}

/** Returns a random time between half and all of a delay that doubles with each try. */
function backOffMs({ random }: Line, tries: number): number {
  return FIRST_BACK_OFF_MS * 2 ** (tries - 1) * (0.5 + random() / 2);
}

/**
 * Resolves like the promise, or rejects with the signal's reason as soon as the signal is aborted. The shared work
 * continues for other callers.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
