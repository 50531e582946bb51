import type { IncomingMessage } from "node:http";
import { ApiError, isApiError } from "#api/errors.ts";
import type { DeliveryCode } from "#api/event-types.ts";
import { VERSION } from "#api/version.ts";
import { isoOf } from "#core/instant.ts";
import { configuredPlaces } from "#net/configured-places.ts";
import type { GuardedClient } from "#net/guarded-client.ts";
import type { EventRecord } from "#storage/records/event-deliveries.ts";
import { sign } from "./signature.ts";

/** The result of one try. Only the response's status and `Retry-After` are read. */
export type TryEnd =
  | { type: "delivered"; status: number }
  | { type: "failed"; status: number | null; code: DeliveryCode; retryAfterMs?: number };

/** The longest duration of a try, from the DNS lookup to the response headers. */
export const SEND_TIMEOUT_MS = 15_000;

/** Sends an event to a URL, once. The response body isn't read. */
export async function sendEvent(
  client: Pick<GuardedClient, "resolve" | "send">,
  { url, event, workspaceId, secrets }: { url: string; event: EventRecord; workspaceId: string; secrets: string[] },
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<TryEnd> {
  const cap = AbortSignal.timeout(SEND_TIMEOUT_MS);
  const body = bodyOf(event, workspaceId);
  const headers = {
    "content-type": "application/json",
    "user-agent": `kb/${VERSION}`,
    ...sign({ id: event.eventId, at: now, body }, secrets),
  };
  try {
    const target = new URL(url);
    const both = AbortSignal.any([signal, cap]);
    const pinned = await unlessAborted(resolveTarget(client, target), both);
    const bytes = Buffer.from(body);
    const message = await client.send(target, pinned, { method: "POST", headers, body: bytes, signal: both });
    const end = endOf(message, now);
    message.destroy();
    return end;
  } catch (error) {
    signal.throwIfAborted();
    return { type: "failed", status: null, code: cap.aborted ? "timeout" : codeOf(error) };
  }
}

/**
 * Resolves the address of a target that an admin configured, and checks it with the guard.
 *
 * @throws ApiError `address_not_allowed`, `source_unavailable`
 */
export async function resolveTarget(client: Pick<GuardedClient, "resolve">, url: URL) {
  const pinned = await client.resolve(url, { configured: configuredPlaces([url]) });
  if (url.protocol !== "https:" && !pinned.isListed) {
    throw new ApiError("address_not_allowed", {
      message: `Events are sent over https only. Change the URL of ${url.hostname} to https.`,
    });
  }
  return pinned;
}

/** Returns the body for a receiver. It is the same in every try. */
function bodyOf({ type, at, data }: EventRecord, workspaceId: string): string {
  return JSON.stringify({ type, timestamp: isoOf(at), workspaceId, data });
}

function endOf({ statusCode: status = 0, headers }: IncomingMessage, now: number): TryEnd {
  if (status >= 200 && status < 300) return { type: "delivered", status };
  const retryAfterMs = readRetryAfter(headers["retry-after"], now);
  return { type: "failed", status, code: codeOfStatus(status), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function codeOfStatus(status: number): DeliveryCode {
  if (status === 410) return "gone";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "server_error";
  return status >= 300 && status < 400 ? "redirected" : "refused";
}

function codeOf(error: unknown): DeliveryCode {
  if (isApiError(error, "address_not_allowed")) return "address_not_allowed";
  return "unreachable";
}

/** Parses `Retry-After`: seconds or a date. Source: RFC 9110 section 10.2.3. */
function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** Waits for the work until the signal is aborted. A lookup can't be aborted, so this only stops waiting for it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(new Error("aborted"));
    signal.addEventListener("abort", abort, { once: true });
  });
  // Both promises need a handler for their failures.
  work.catch(() => undefined);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
