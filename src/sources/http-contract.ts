import type { Duplex } from "node:stream";
import type { z } from "zod";

/** How somebody signs in to a source. A source lists every way it has. */
export type AuthWay =
  /** Without: the source answers everybody, or reads this machine. */
  | { type: "none" }
  /** The other way round: a program of the customer's sends items with the connector's key. */
  | { type: "key" }
  /**
   * A person's account at a provider: the one of the source's own id, unless `provider` names another. `asHeader` names the
   * header that speaks for somebody else.
   */
  | { type: "account"; provider?: string; asHeader?: string }
  /** A workspace's connection to a provider server. */
  | { type: "connection" }
  | ({ type: "credentials" } & CredentialScheme);

/**
 * What is done with credentials. Every value that is not said to be a template is the name of a key of
 * `spec.credentials`. Of several ways the first is taken whose keys are all there; with `basic` and `digest` of the same
 * keys the server's challenge decides.
 */
export type CredentialScheme =
  /** `Authorization: Bearer …`, or the same with another header or prefix. */
  | { scheme: "bearer"; token: string; header?: string; prefix?: string; asHeader?: string }
  | { scheme: "basic" | "digest"; username: string; password: string; asHeader?: string }
  /** AWS Signature Version 4. `service` as it is, `region` a template over the config. */
  | {
      scheme: "sigv4";
      accessKeyId: string;
      secretAccessKey: string;
      sessionToken?: string;
      service: string;
      region: string;
    }
  /**
   * A token of an hour, for which the app asks with a JWT it signs itself, as GitHub Apps do. `tokenUrl` is a template over
   * the config, in which `{installation}` is that credential.
   */
  | { scheme: "installation"; appId: string; privateKey: string; installation: string; tokenUrl: string }
  /**
   * A service account: a signed assertion is exchanged for a token, each `as` subject has one of its own. `tokenUrl` is a
   * template over the config. Source: RFC 7523.
   */
  | { scheme: "assertion"; issuer: string; privateKey: string; tokenUrl: string; scopes: readonly string[] }
  /**
   * The same with a key file of Google, which is one credential. `subject` is for whom the service account speaks, where
   * the domain lets it. Source: https://developers.google.com/identity/protocols/oauth2/service-account
   */
  | { scheme: "key_file"; key: string; subject?: string; tokenUrl: string; scopes: readonly string[] }
  /** The git program speaks for itself: `SourceContext.git` has the credentials as they are. Only `sources/git` may say so. Source: S38. */
  | { scheme: "git" };

/** What is known about a provider's limits. `429` and `Retry-After` are understood without. */
/** Requests a minute for one credential at one host, unless the source tells. */
export const PER_MINUTE = 1_200;

export interface LimitSpec {
  /** Requests a minute for one credential at one host; 1,200 unless told. */
  perMinute?: number;
  /** Requests at once after a pause; 60 unless told. */
  burst?: number;
  /** Headers that tell what is left and when there is more: in seconds from now, or as a time in seconds or milliseconds. */
  windows?: readonly { remaining: string; reset: string; unit: "seconds" | "epoch_seconds" | "epoch_ms" }[];
  /** What makes a 403 or 503 a limit: a header (of this value), a word at a path of a JSON body (`error.errors.*.reason`), a phrase. */
  forbidden?: readonly LimitMark[];
  /** How long a limit lasts at least that does not say it. */
  leastWaitMs?: number;
}

export type LimitMark =
  | { header: string; value?: string }
  | { path: string; values: readonly string[] }
  | { phrase: string };

/**
 * With the connector's credential; with it in the name of somebody; or, of a `key_file`, with a token of these scopes, so
 * that a scope which was not granted takes nothing else with it. Whatever else signs has the scopes it has.
 */
export type RequestAuth = true | { as: string } | { scopes: readonly string[] };

export interface SourceRequest {
  /** `GET` unless told. */
  method?: string;
  /** Absolute. */
  url: string | URL;
  /** Added to the URL's own; undefined ones are left out. */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** A body as JSON, with its content type. */
  json?: unknown;
  /**
   * Absent = nobody signs in. Only for the origins of the connector: with `auth` to anywhere else nothing is sent, and
   * `address_not_allowed` is thrown.
   */
  auth?: RequestAuth;
  /** May be sent again after a failure. GET, HEAD, OPTIONS, PROPFIND, REPORT, SEARCH, PUT and DELETE are, others unless told not. */
  isIdempotent?: boolean;
  /**
   * `same_origin` unless told. `follow`: to other origins too, where no header and no body of yours arrives that could say
   * who you are. `none`: gives the redirect itself when `allow` has its status.
   */
  redirect?: "same_origin" | "follow" | "none";
  /** Statuses from 300 on that come back as responses instead of failures. */
  allow?: readonly number[];
  /** Headers that a failure tells in its `details.headers`, where they are there. */
  tell?: readonly string[];
  /** Statuses that mean that the cursor is too old: they are thrown as `cursor_expired`. */
  expired?: readonly number[];
  /** Bytes of the body, unpacked; 32 MiB unless told, 1 GiB for a stream. */
  maxBytes?: number;
  /** Until the headers are there, and between two pieces of the body; 30 s unless told. */
  timeoutMs?: number;
}

interface ResponseHead {
  status: number;
  headers: Headers;
  /** After redirects. */
  url: string;
}

export interface SourceResponse extends ResponseHead {
  /** In the charset that the response names; UTF-8 unless told. */
  text(): string;
  /** @throws ApiError `source_unavailable` when it is no JSON or does not fit the schema; no value stands in the message */
  json(): unknown;
  json<T>(schema: z.ZodType<T>): T;
  bytes(): Uint8Array;
}

export interface SourceStream extends ResponseHead {
  /** To be read to its end, or ended early. More than `maxBytes` throws `payload_too_large`. */
  body: AsyncIterable<Uint8Array>;
}

/**
 * The one way to a provider over HTTP. It signs in, follows redirects, keeps the connection, waits for limits and tries
 * again; a source never sees a credential. After the context's signal aborts, its reason is thrown within a second.
 *
 * @throws ApiError `source_unauthorized` (401 on a signed request, after one refresh), `source_forbidden` (403 that is no
 *   limit), `source_not_found` (404), `source_gone` (410), `cursor_expired`, `source_rate_limited` with `retryAfterMs`,
 *   `source_unavailable` (everything else), `address_not_allowed`, `payload_too_large`
 */
export interface SourceHttp {
  request(request: SourceRequest): Promise<SourceResponse>;
  stream(request: SourceRequest): Promise<SourceStream>;
  /**
   * A listing page by page. `next` gives the request of the next page, or its URL alone (absolute, or relative to the page)
   * to ask as for the one before; undefined at the end. A page that was asked for before ends it with `source_unavailable`.
   */
  pages(
    first: SourceRequest,
    next: (page: SourceResponse) => SourceRequest | string | undefined | Promise<SourceRequest | string | undefined>,
  ): AsyncGenerator<SourceResponse, void>;
  /** Requests sent so far for this context, those of repeats and redirects included. */
  readonly sent: number;
  /** The same until this signal is aborted. */
  until(signal: AbortSignal): SourceHttp;
}

/** A connection for protocols other than HTTP. */
export type SourceSocket = Duplex & {
  /**
   * Writes the credential, and nothing else the source could read: `login` as two quoted strings (IMAP LOGIN), `plain` and
   * `xoauth2` as SASL in base64. `before` is what stands before it on its line, such as `a1 LOGIN `; the line is ended.
   *
   * @throws ApiError `source_unauthorized` without such a credential, `address_not_allowed` when it is not for this host
   */
  authenticate(mechanism: "login" | "plain" | "xoauth2", before?: string): Promise<void>;
};

/** Opens a connection that the address guard has judged. @throws ApiError `address_not_allowed`, `source_unavailable` */
export type SourceConnect = (host: string, port: number, tls: boolean, signal?: AbortSignal) => Promise<SourceSocket>;

/** An account's access token, kept by who keeps accounts. */
export interface AccountTokens {
  /** Names the account among all: what shares its limits and its refresh. */
  key: string;
  /** Where its token may go: nowhere else is it sent, whatever the source says. */
  origins: readonly string[];
  /** The instance that it is for; absent while an account is being made. */
  place?: { baseUrl: string; apiUrl: string };
  /** The name to sign in with where a protocol asks for one with the token. */
  login?: string;
  accessToken(): Promise<string>;
  /** Gives another token than this one. Called once at a time. @throws ApiError `source_unauthorized` when there is none */
  refresh(stale: string): Promise<string>;
}
