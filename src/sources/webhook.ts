import { createHmac, timingSafeEqual } from "node:crypto";
import type { EntityType } from "#api/common.ts";
import { findJsonFault, MAX_JSON_DEPTH } from "#core/json-bounds.ts";

/**
 * A change that an app reports in a signed request to this server. The report isn't trusted and removes nothing: it
 * only requests a run, which reads the source itself.
 */
export type WebhookChange =
  /** Items that exist now. A deleted item is reported as a `delta`. */
  | { t: "items"; externalIds: readonly string[] }
  | { t: "containers"; containers: readonly { type: Exclude<EntityType, "person">; id: string }[] }
  /**
   * Groups whose members changed, by their ids at the source, as in `group:<connector>:<id>`. They are read within
   * seconds.
   */
  | { t: "groups"; ids: readonly string[] }
  /** Someone's identity or permissions changed, and the affected groups are unknown: all people and groups are read. */
  | { t: "people" }
  /** Something changed at an unknown place. The next increment reads the changes. */
  | { t: "delta" };

/** An HTTP request from outside. Anyone may have sent it. */
export interface WebhookRequest {
  /** The headers. Names are matched in any case. */
  headers: { get(name: string): string | null };
  /** The body as received, over which the signature is computed. */
  rawBody: Uint8Array;
  /** Epoch milliseconds, to check signatures that expire. */
  receivedAt: number;
}

/** The content of a signed request. */
export interface WebhookDelivery {
  /**
   * The recipients, if one URL serves every connector of the app: the base URL of the instance, and the id of the
   * installation at the instance. Only these connectors are notified. Without `target`, no connector is notified in
   * this case.
   */
  target?: { instance: string; installation: string };
  changes: readonly WebhookChange[];
  /**
   * A unique id of this delivery, derived from data that the signature covers (the signature itself is enough if a body
   * never repeats). With it, a replayed delivery notifies no connector.
   */
  delivery?: string;
  /** The response that the app expects, such as the challenge of a URL verification. */
  reply?: { contentType: "text/plain" | "application/json"; body: string };
}

/** A subscription that was created at the provider. */
export interface WebhookSubscription {
  /**
   * The data that `unsubscribe` needs to end the subscription (the ID of a channel or a webhook): at most 4 KiB as
   * JSON, never a secret.
   */
  data: unknown;
  /**
   * Epoch milliseconds at which the provider ends the subscription. Absent = never. The subscription is renewed before
   * this time.
   */
  expiresAt?: number;
}

/** How an app notifies this server. */
export interface Webhook<Config> {
  /**
   * Verifies a request without side effects: an unauthenticated request never causes a call to the provider. Compares
   * signatures with `timingSafeEqual`, and takes the same time for a wrong secret as for the right one.
   */
  verify(secret: string, request: WebhookRequest): WebhookDelivery | "refused";
  /**
   * For a provider that creates the secret itself and sends it unsigned to the webhook's address: returns the secret in
   * a request. The secret is accepted only while a person waits for it, and it never replaces an existing secret. If
   * absent, kb creates the secret.
   */
  offeredSecret?(request: Pick<WebhookRequest, "headers" | "rawBody">): string | undefined;
  /** Returns the app's installation that a connector reads through. Absent = the tenant that `check` returned. */
  installationOf?(config: Config): string | undefined;
}

/** Returns the HMAC-SHA256 of these parts, in hex. */
export function hmacOf(secret: string, ...of: readonly (string | Uint8Array)[]): string {
  const hmac = createHmac("sha256", secret);
  for (const part of of) hmac.update(part);
  return hmac.digest("hex");
}

/** Compares two signatures. Takes the same time for a wrong signature as for the right one. */
export function isSame(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Limits of a webhook's body. Notifications of apps are far smaller; only a push of thousands of commits comes close.
 */
const BODY_BOUNDS = { maxDepth: MAX_JSON_DEPTH, maxMembers: 100_000 };

/**
 * Parses a JSON body whose signature is valid. Undefined if the body isn't JSON, or if its nesting or its size exceeds
 * the limits.
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
