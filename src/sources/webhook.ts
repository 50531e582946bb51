import { createHmac, timingSafeEqual } from "node:crypto";
import type { EntityType } from "#api/common.ts";
import { findJsonFault, MAX_JSON_DEPTH } from "#core/json-bounds.ts";

/**
 * A change that an app reports in a signed request to this server. It proves and removes nothing: it only requests a
 * run, which reads the source itself.
 */
export type WebhookChange =
  /** Items that exist now. An item that is gone is a `delta`. */
  | { t: "items"; externalIds: readonly string[] }
  | { t: "containers"; containers: readonly { type: Exclude<EntityType, "person">; id: string }[] }
  /**
   * Groups whose members changed, which are read within seconds, by their ids at the source, as in
   * `group:<connector>:<id>`.
   */
  | { t: "groups"; ids: readonly string[] }
  /** Someone's identity or permissions changed, and no group says where: all people and groups are read. */
  | { t: "people" }
  /** Something changed; the next increment shows what. */
  | { t: "delta" };

/** A request from outside, which anyone may have sent. */
export interface WebhookRequest {
  /** Names in any case. */
  headers: { get(name: string): string | null };
  /** The body as received, for the signature. */
  rawBody: Uint8Array;
  /** Epoch milliseconds, for signatures that expire. */
  receivedAt: number;
}

/** The content of a signed request. */
export interface WebhookDelivery {
  /**
   * The recipients, where one URL serves every connector of the app: the base URL of the instance, and the installation
   * there. Only these connectors are notified; without it none are.
   */
  target?: { instance: string; installation: string };
  changes: readonly WebhookChange[];
  /**
   * A unique id of this delivery, from what the signature covers (a signature over a body that never repeats will do):
   * a replay notifies no one.
   */
  delivery?: string;
  /** The response that the app expects, such as the challenge of a URL verification. */
  reply?: { contentType: "text/plain" | "application/json"; body: string };
}

/** A subscription that was created at the provider. */
export interface WebhookSubscription {
  /**
   * The data that `unsubscribe` needs to end it (the ID of a channel or a hook): at most 4 KiB as JSON, never a secret.
   */
  data: unknown;
  /** Epoch milliseconds at which the provider ends it; absent = never. It is renewed before. */
  expiresAt?: number;
}

/** How an app notifies this server. */
export interface Webhook<Config> {
  /**
   * Pure: an unauthenticated request never causes a call to the provider. Compares signatures with `timingSafeEqual`,
   * and takes as long for a wrong secret as for the right one.
   */
  verify(secret: string, request: WebhookRequest): WebhookDelivery | "refused";
  /**
   * For a provider that creates the secret itself and sends it to the address, unsigned: returns the secret that a
   * request offers. It is accepted only while a person waits for it, and never replaces another. Without this, kb
   * creates the secret.
   */
  offeredSecret?(request: Pick<WebhookRequest, "headers" | "rawBody">): string | undefined;
  /** The installation of the app that a connector reads through. Absent = the tenant that `check` returned. */
  installationOf?(config: Config): string | undefined;
}

/** The HMAC-SHA256 of these, in hex. */
export function hmacOf(secret: string, ...of: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac("sha256", secret);
  for (const part of of) hmac.update(part);
  return hmac.digest("hex");
}

/** Takes as long for a wrong signature as for the right one. */
export function isSame(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Notifications of apps are far smaller; a push of thousands of commits comes close. */
const BODY_BOUNDS = { maxDepth: MAX_JSON_DEPTH, maxMembers: 100_000 };

/**
 * Parses the JSON of a body, once its signature is valid; undefined if it isn't JSON, or nests or lists more than an
 * app would.
 */
export function readHookJson(rawBody: Uint8Array): unknown {
  const text = Buffer.from(rawBody).toString("utf8");
  if (findJsonFault(text, BODY_BOUNDS) !== undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
