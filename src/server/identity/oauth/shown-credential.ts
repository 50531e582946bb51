import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { hashSecret } from "#core/secrets.ts";
import type { OAuthRecords } from "./records.ts";

/** What a request for tokens can show, by its field, and the model that has it. */
const SHOWN = [
  ["refresh_token", "RefreshToken"],
  ["code", "AuthorizationCode"],
  ["device_code", "DeviceCode"],
] as const;

/** Bytes of a form that are looked at: less than what a stream holds at once, so that all of it can be put back. */
const MAX_BYTES = 8_192;

/**
 * What of this server's own a request for tokens shows: the grant of a refresh token or code that is known here, or a device
 * code's hash; undefined for a guess. The body is left to the library.
 */
export async function findShownCredential(
  records: Pick<OAuthRecords, "find">,
  incoming: IncomingMessage,
): Promise<string | undefined> {
  const form = new URLSearchParams(await peek(incoming));
  for (const [field, model] of SHOWN) {
    const secret = form.get(field);
    if (secret === null || secret === "") continue;
    const known = await records.find(model, secret);
    if (known === undefined) continue;
    const { grantId } = known;
    return typeof grantId === "string" ? grantId : hashSecret(secret);
  }
  return undefined;
}

/** The whole body, put back for the next reader; empty for one that is too long, says no length or breaks off. */
async function peek(incoming: IncomingMessage): Promise<string> {
  const length = Number(incoming.headers["content-length"] ?? 0);
  if (!(length > 0 && length <= MAX_BYTES)) return "";
  while (incoming.readableLength < length) {
    if (!incoming.readable) return "";
    const arrived = new AbortController();
    const either = ["readable", "close", "error"].map((event) => once(incoming, event, { signal: arrived.signal }));
    await Promise.race(either).finally(() => {
      arrived.abort();
      for (const waiting of either) waiting.catch(() => undefined);
    });
  }
  const body: unknown = incoming.read(length);
  if (!(body instanceof Buffer)) return "";
  // Before the stream says that it ended: it has something to give again.
  incoming.unshift(body);
  return body.toString("utf8");
}
