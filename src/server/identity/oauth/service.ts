import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import type { IncomingMessage } from "node:http";
import type { Provider } from "oidc-provider";
import { type GuardedFetch, makeGuardedFetch } from "#net/guarded-fetch.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import { makeAccessLookup } from "./access.ts";
import { CLIENT_UNUSED_MS, MAX_UNUSED_CLIENTS } from "./clients.ts";
import { makeClientDocuments } from "./client-documents.ts";
import { makeConsentService } from "./consent.ts";
import { makeDecisions, type ProvePassword } from "./decision.ts";
import { makeDeviceService } from "./device.ts";
import { makeGrantService } from "./grants.ts";
import { originOf } from "./handed.ts";
import { makeOAuthKeys } from "./keys.ts";
import { loadLibrary } from "./library.ts";
import type { RedirectRules } from "./policy.ts";
import { makePollWatch } from "./polls.ts";
import { makeProvider } from "./provider.ts";
import { makeOAuthRecords } from "./records.ts";
import { makeRefreshGrace } from "./refresh.ts";
import { findShownCredential } from "./shown-credential.ts";
import { makeRegistrationService } from "./registration.ts";

/** OAuth for MCP clients and for the command line. */
export type OAuthService = ReturnType<typeof makeOAuthService>;

export interface OAuthOptions extends Parts {
  audit: AuditRecorder;
  cursors: CursorCodec;
  addressGuard: AddressGuard;
  /** Replaces the guarded fetch in tests. */
  fetchDocument?: GuardedFetch;
  takesDocuments: boolean;
  rules: RedirectRules;
  baseUrl: string;
  /**
   * Secret of at least 32 bytes, the same after a restart. The keys of cookies and proofs and the signing key are
   * derived from it.
   */
  key: Uint8Array;
  prove: ProvePassword;
  /** Limits wrong device codes, per person and per address. */
  deviceThrottle: Throttle;
}

const SWEEP_STEP_MS = 10 * 60_000;
/** Milliseconds for which expired records are kept, so that "expired" can be distinguished from "unknown". */
const EXPIRED_KEPT_MS = 3_600_000;

/** Makes the service. Nothing is loaded before `provider` is called. */
export function makeOAuthService(options: OAuthOptions) {
  const { store, vault, clock, log, randomBytes, audit, baseUrl, prove, rules, takesDocuments } = options;
  const keys = makeOAuthKeys(options.key);
  const records = makeOAuthRecords({ store, vault, clock, log, keys });
  const fetchGuarded = options.fetchDocument ?? makeGuardedFetch(options.addressGuard);
  const documents = makeClientDocuments({ store, clock, log, fetchGuarded, rules });
  const grants = makeGrantService({ ...options, documents });
  const decisions = makeDecisions({ store, clock, randomBytes, keys, audit, baseUrl, prove, documents });
  let loading: Promise<Provider> | undefined;
  let sweptAt = 0;

  async function load(): Promise<Provider> {
    return makeProvider({
      library: await loadLibrary(),
      baseUrl,
      keys,
      store,
      records,
      clock,
      log,
      grace: makeRefreshGrace(records, randomBytes),
      polls: makePollWatch(clock),
      documents: takesDocuments ? documents : undefined,
      endGrant: (grantId, ctx) =>
        grants.end(grantId, ctx?.oidc.route === "revocation" ? "client" : "reuse", ctx && originOf(ctx.req)),
      deviceInfo: (ctx) => ({ ip: originOf(ctx.req)?.clientIp ?? "" }),
    });
  }

  async function provider(): Promise<Provider> {
    loading ??= load().catch((error: unknown) => {
      // The next call loads the library again.
      loading = undefined;
      throw error;
    });
    return loading;
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    if (now - sweptAt < SWEEP_STEP_MS) return;
    sweptAt = now;
    try {
      await store.oauth.sweep(now - EXPIRED_KEPT_MS);
      await store.oauth.sweepClients({
        unusedSince: now - CLIENT_UNUSED_MS,
        keepUnused: MAX_UNUSED_CLIENTS,
        now,
      });
      await store.oauth.sweepDocuments({ readBefore: now - CLIENT_UNUSED_MS, now });
    } catch (error) {
      log.warn({ err: error }, "expired OAuth records could not be deleted");
    }
  }

  return {
    baseUrl,
    /** Whether clients may be described by a document at the address that is their id. */
    takesDocuments,
    /** The authorization server, loaded on first use. */
    provider,
    grants,
    /**
     * Deletes expired records and unused clients. Does nothing within ten minutes of the last run. Never throws, since
     * it runs after the response.
     */
    sweep,
    consent: makeConsentService({ provider, decisions, records, clock, baseUrl }),
    device: makeDeviceService({ provider, decisions, clock, baseUrl, throttle: options.deviceThrottle }),
    registration: makeRegistrationService({ provider, store, clock, randomBytes, log, rules }),
    /** Finds the person and scopes of an access token. */
    findActor: makeAccessLookup(options),
    /**
     * Finds the credential of this server in a token request. Undefined if it was guessed. The library can still read
     * the body.
     */
    findShown: (incoming: IncomingMessage): Promise<string | undefined> => findShownCredential(records, incoming),
    /** Loads the library, so that the first request doesn't have to wait for it, and deletes expired records. */
    async warm(): Promise<void> {
      await provider();
      await sweep();
    },
  };
}
