import type { IncomingMessage } from "node:http";
import { hashSecret } from "#core/secrets.ts";
import type { OAuthRecords } from "./records.ts";

/** What a request for tokens shows, by its grant type: the field, and the model that has it. */
const SHOWN: ReadonlyMap<string, readonly [field: string, model: "RefreshToken" | "AuthorizationCode" | "DeviceCode"]> =
  new Map([
    ["refresh_token", ["refresh_token", "RefreshToken"]],
    ["authorization_code", ["code", "AuthorizationCode"]],
    ["urn:ietf:params:oauth:grant-type:device_code", ["device_code", "DeviceCode"]],
  ]);

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
  const [field = "", model] = SHOWN.get(form.get("grant_type") ?? "") ?? [];
  const secret = form.get(field);
  if (model === undefined || secret === null || secret === "") return undefined;
  const known = await records.find(model, secret);
  if (known === undefined) return undefined;
  return typeof known.grantId === "string" ? known.grantId : hashSecret(secret);
}

/** The whole body, put back for the next reader; empty for one that is too long, says no length or breaks off. */
async function peek(incoming: IncomingMessage): Promise<string> {
  const length = Number(incoming.headers["content-length"] ?? 0);
  if (!(length > 0 && length <= MAX_BYTES)) return "";
  await arrivalOf(incoming, length);
  const body: unknown = incoming.read(length);
  if (!(body instanceof Buffer)) return "";
  // Before the stream says that it ended: it has something to give again.
  incoming.unshift(body);
  return body.toString("utf8");
}

const ARRIVALS = ["readable", "close", "error"] as const;

/**
 * Waits until so many bytes are there, or no more come. It listens once for all of them: Node tells a new listener again what
 * has arrived, so listening again for each piece would go round for ever.
 */
function arrivalOf(incoming: IncomingMessage, length: number): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (incoming.readable && incoming.readableLength < length) return;
      for (const event of ARRIVALS) incoming.off(event, look);
      resolve();
    };
    for (const event of ARRIVALS) incoming.on(event, look);
    look();
  });
}
