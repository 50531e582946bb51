import type { Duplex } from "node:stream";
import type { z } from "zod";

/** A way to sign in to a source. A source lists every way it has. */
export type AuthWay =
  /** Without credentials: the source answers everyone, or reads this machine. */
  | { type: "none" }
  /** For push: a program of the customer's sends items with the connector's key. */
  | { type: "key" }
  /**
   * A person's account at a provider: the one with the source's own id, unless `provider` names another. `asHeader` is
   * the header for requests on behalf of another user.
   */
  | { type: "account"; provider?: string; asHeader?: string }
  /** A workspace's connection to a provider server. */
  | { type: "connection" }
  | ({ type: "credentials" } & CredentialScheme);

/**
 * How credentials are used. Every value is the name of a key of `spec.credentials`, unless it is described as a
 * template. Of several ways, the first whose keys are all present is used; with `basic` and `digest` of the same keys
 * the server's challenge decides.
 */
export type CredentialScheme =
  /** `Authorization: Bearer …`, or the same with another header or prefix. */
  | { scheme: "bearer"; token: string; header?: string; prefix?: string; asHeader?: string }
  | { scheme: "basic" | "digest"; username: string; password: string; asHeader?: string }
  /** AWS Signature Version 4. `service` is literal, `region` a template over the config. */
  | {
      scheme: "sigv4";
      accessKeyId: string;
      secretAccessKey: string;
      sessionToken?: string;
      service: string;
      region: string;
    }
  /**
   * A one-hour token that the app requests with a JWT it signs, as GitHub Apps do. `tokenUrl` is a template over the
   * config, in which `{installation}` is that credential.
   */
  | { scheme: "installation"; appId: string; privateKey: string; installation: string; tokenUrl: string }
  /**
   * A service account: a signed assertion is exchanged for a token, one for each `as` subject. `tokenUrl` is a template
   * over the config. Source: RFC 7523.
   */
  | { scheme: "assertion"; issuer: string; privateKey: string; tokenUrl: string; scopes: readonly string[] }
  /**
   * The same with a Google key file as the one credential. `subject` is the user that the service account acts for,
   * where the domain allows it. Source: https://developers.google.com/identity/protocols/oauth2/service-account
   */
  | { scheme: "key_file"; key: string; subject?: string; tokenUrl: string; scopes: readonly string[] }
  /**
   * The git program authenticates itself: `SourceContext.git` returns the credentials unchanged. Only `sources/git` may
   * use it. Source: S38.
   */
  | { scheme: "git" };

/** A provider's known limits. `429` and `Retry-After` are always recognized. */
/** Default requests a minute for one credential at one host. */
export const PER_MINUTE = 1_200;

export interface LimitSpec {
  /** Requests a minute for one credential at one host; 1,200 by default. */
  perMinute?: number;
  /** Requests at once after a pause; 60 by default. */
  burst?: number;
  /**
   * Headers that report what is left and when the limit resets: in seconds from now, or as a time in seconds or
   * milliseconds.
   */
  windows?: readonly { remaining: string; reset: string; unit: "seconds" | "epoch_seconds" | "epoch_ms" }[];
  /**
   * Marks of a 403 or 503 that is a limit: a header (of this value), a word at a path of a JSON body
   * (`error.errors.*.reason`), a phrase.
   */
  forbidden?: readonly LimitMark[];
  /** The shortest wait after a limit response that doesn't say how long. */
  leastWaitMs?: number;
}

export type LimitMark =
  | { header: string; value?: string }
  | { path: string; values: readonly string[] }
  | { phrase: string };

/**
 * With the connector's credential; with it on behalf of another user; or, with a `key_file`, with a token of these
 * scopes only, so that a scope that was not granted doesn't block the others. Other schemes have fixed scopes.
 */
export type RequestAuth = true | { as: string } | { scopes: readonly string[] };

export interface SourceRequest {
  /** Defaults to `GET`. */
  method?: string;
  /** Absolute. */
  url: string | URL;
  /** Added to the URL's own query; undefined values are left out. */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** A JSON body; sets the content type. */
  json?: unknown;
  /**
   * Absent = unauthenticated. Only for the origins of the connector: with `auth` to any other origin nothing is sent,
   * and `address_not_allowed` is thrown.
   */
  auth?: RequestAuth;
  /**
   * May be sent again after a failure. True by default for GET, HEAD, OPTIONS, PROPFIND, REPORT, SEARCH, PUT and
   * DELETE, and false for others.
   */
  isIdempotent?: boolean;
  /**
   * Defaults to `same_origin`. `follow`: to other origins too, without the headers and the body, which could identify
   * you. `none`: returns the redirect itself when `allow` has its status.
   */
  redirect?: "same_origin" | "follow" | "none";
  /** Statuses from 300 on that are returned as responses instead of thrown. */
  allow?: readonly number[];
  /** Headers that a failure copies to its `details.headers`, if present. */
  keepHeaders?: readonly string[];
  /** Statuses that mean the cursor is too old: thrown as `cursor_expired`. */
  expired?: readonly number[];
  /** Bytes of the decompressed body; 32 MiB by default, 1 GiB for a stream. */
  maxBytes?: number;
  /** For the headers to arrive, and between two chunks of the body; 30 s by default. */
  timeoutMs?: number;
}

interface ResponseHead {
  status: number;
  headers: Headers;
  /** After redirects. */
  url: string;
}

export interface SourceResponse extends ResponseHead {
  /** Decoded in the charset of the response; UTF-8 by default. */
  text(): string;
  /** @throws ApiError `source_unavailable` if it isn't JSON or doesn't fit the schema; the message contains no value */
  json(): unknown;
  json<T>(schema: z.ZodType<T>): T;
  bytes(): Uint8Array;
}

export interface SourceStream extends ResponseHead {
  /** Read it to the end, or end it early. More than `maxBytes` throws `payload_too_large`. */
  body: AsyncIterable<Uint8Array>;
}

/**
 * The one way to a provider over HTTP. It authenticates, follows redirects, reuses connections, waits for limits and
 * retries; a source never sees a credential. After the context's signal aborts, its reason is thrown within a second.
 *
 * @throws ApiError `source_unauthorized` (401 on a signed request, after one refresh), `source_forbidden` (403 that
 * isn't a limit), `source_not_found` (404), `source_gone` (410), `cursor_expired`, `source_rate_limited` with
 * `retryAfterMs`, `source_unavailable` (everything else), `address_not_allowed`, `payload_too_large`
 */
export interface SourceHttp {
  request(request: SourceRequest): Promise<SourceResponse>;
  stream(request: SourceRequest): Promise<SourceStream>;
  /**
   * Reads a listing page by page. `next` returns the request for the next page, or only its URL (absolute, or relative
   * to the page) to repeat the previous request with; undefined at the end. A page that was requested before ends the
   * listing with `source_unavailable`.
   */
  pages(
    first: SourceRequest,
    next: (page: SourceResponse) => SourceRequest | string | undefined | Promise<SourceRequest | string | undefined>,
  ): AsyncGenerator<SourceResponse, void>;
  /** Requests sent so far for this context, including retries and redirects. */
  readonly sent: number;
  /** The same client, until this signal is aborted. */
  until(signal: AbortSignal): SourceHttp;
}

/** A connection for protocols other than HTTP. */
export type SourceSocket = Duplex & {
  /**
   * Writes the credential, and nothing that the source could read: `login` as two quoted strings (IMAP LOGIN), `plain`
   * and `xoauth2` as SASL in base64. `before` is the start of that line, such as `a1 LOGIN `; the line is terminated.
   *
   * @throws ApiError `source_unauthorized` without such a credential, `address_not_allowed` when it isn't for this host
   */
  authenticate(mechanism: "login" | "plain" | "xoauth2", before?: string): Promise<void>;
};

/**
 * Opens a connection that the address guard has approved. @throws ApiError `address_not_allowed`, `source_unavailable`
 */
export type SourceConnect = (host: string, port: number, tls: boolean, signal?: AbortSignal) => Promise<SourceSocket>;

/** An account's access token, held by the account service. */
export interface AccountTokens {
  /** Identifies the account among all: requests with the same key share limits and token refresh. */
  key: string;
  /** The only origins its token is sent to, whatever the source requests. */
  origins: readonly string[];
  /** The instance that it is for; absent while the account is being created. */
  place?: { baseUrl: string; apiUrl: string };
  /** The login name for protocols that require one with the token. */
  login?: string;
  accessToken(): Promise<string>;
  /**
   * Returns a new token in place of `stale`. One call at a time. @throws ApiError `source_unauthorized` when there is
   * none
   */
  refresh(stale: string): Promise<string>;
}
