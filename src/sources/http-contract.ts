import type { Duplex } from "node:stream";
import type { z } from "zod";

/** A way to sign in to a source. A source lists all of its ways. */
export type AuthWay =
  /** Without credentials: the source answers everyone, or reads this machine. */
  | { type: "none" }
  /** For push: the customer's own program sends items with the connector's key. */
  | { type: "key" }
  /**
   * A person's account at a provider. The provider has the source's own id unless `provider` names another. `asHeader`
   * is the header for requests on behalf of another user.
   */
  | { type: "account"; provider?: string; asHeader?: string }
  /** A workspace's connection to a provider server. */
  | { type: "connection" }
  | ({ type: "credentials" } & CredentialScheme);

/**
 * How credentials are used. Every value is the name of a key of `spec.credentials`, unless it is described as a
 * template. If there are several ways, the first way whose keys are all present is used. If `basic` and `digest` use
 * the same keys, the server's challenge decides.
 */
export type CredentialScheme =
  /** `Authorization: Bearer …`, or the same token with another header or prefix. */
  | { scheme: "bearer"; token: string; header?: string; prefix?: string; asHeader?: string }
  | { scheme: "basic" | "digest"; username: string; password: string; asHeader?: string }
  /** AWS Signature Version 4. `service` is literal, and `region` is a template filled in from the config. */
  | {
      scheme: "sigv4";
      accessKeyId: string;
      secretAccessKey: string;
      sessionToken?: string;
      service: string;
      region: string;
    }
  /**
   * A token that is valid for one hour, which the app requests with a JWT that it signs, as GitHub Apps do. `tokenUrl`
   * is a template filled in from the config. `{installation}` in it is the credential of that name.
   */
  | { scheme: "installation"; appId: string; privateKey: string; installation: string; tokenUrl: string }
  /**
   * A service account: a signed assertion is exchanged for a token, with a separate token for each `as` subject.
   * `tokenUrl` is a template filled in from the config. Source: RFC 7523.
   */
  | { scheme: "assertion"; issuer: string; privateKey: string; tokenUrl: string; scopes: readonly string[] }
  /**
   * A service account whose only credential is a Google key file. `subject` is the user that the service account acts
   * for, if the domain allows that. Source: https://developers.google.com/identity/protocols/oauth2/service-account
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
  /** Requests allowed at once after a pause. Defaults to 60. */
  burst?: number;
  /**
   * Headers that report how many requests are left and when the limit resets: in seconds from now, or as a timestamp in
   * seconds or milliseconds.
   */
  windows?: readonly { remaining: string; reset: string; unit: "seconds" | "epoch_seconds" | "epoch_ms" }[];
  /**
   * Signs that a 403 or 503 is a rate limit: a header (with this value), a word at a path of a JSON body
   * (`error.errors.*.reason`), or a phrase.
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
 * Signs the request with the connector's credential, with that credential on behalf of another user, or, with a
 * `key_file`, with a token of only these scopes, so that a scope that was not granted doesn't block the others. Other
 * schemes have fixed scopes.
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
   * Absent = unauthenticated. Allowed only for the origins of the connector: a request with `auth` to any other origin
   * isn't sent, and throws `address_not_allowed`.
   */
  auth?: RequestAuth;
  /**
   * Whether the request may be sent again after a failure. Defaults to true for GET, HEAD, OPTIONS, PROPFIND, REPORT,
   * SEARCH, PUT and DELETE, and to false for other methods.
   */
  isIdempotent?: boolean;
  /**
   * Defaults to `same_origin`. `follow` also follows redirects to other origins, without the headers and the body,
   * which could identify the user. `none` returns the redirect itself if `allow` has its status.
   */
  redirect?: "same_origin" | "follow" | "none";
  /** Statuses from 300 on that are returned as responses instead of being thrown as errors. */
  allow?: readonly number[];
  /** Response headers that a failure copies to its `details.headers`, if they are present. */
  keepHeaders?: readonly string[];
  /** Statuses that mean that the cursor is too old. They are thrown as `cursor_expired`. */
  expired?: readonly number[];
  /** The most bytes of the decompressed body. Defaults to 32 MiB, or 1 GiB for a stream. */
  maxBytes?: number;
  /** The longest wait for the headers, and between two chunks of the body. Defaults to 30 s. */
  timeoutMs?: number;
}

interface ResponseHead {
  status: number;
  headers: Headers;
  /** The URL of the response, after redirects. */
  url: string;
}

export interface SourceResponse extends ResponseHead {
  /** Returns the body as text, decoded with the charset of the response (UTF-8 by default). */
  text(): string;
  /** @throws ApiError `source_unavailable` if it isn't JSON or doesn't fit the schema; the message contains no value */
  json(): unknown;
  json<T>(schema: z.ZodType<T>): T;
  bytes(): Uint8Array;
}

export interface SourceStream extends ResponseHead {
  /** Read the body to its end, or stop early. More than `maxBytes` throws `payload_too_large`. */
  body: AsyncIterable<Uint8Array>;
}

/**
 * The only HTTP client for a provider. It authenticates requests, follows redirects, reuses connections, waits for rate
 * limits and retries; a source never sees a credential. After the context's signal aborts, its reason is thrown within
 * a second.
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
   * to the page) with which the previous request is repeated. At the end, `next` returns undefined. If a page was
   * already requested, the listing ends with `source_unavailable`.
   */
  pages(
    first: SourceRequest,
    next: (page: SourceResponse) => SourceRequest | string | undefined | Promise<SourceRequest | string | undefined>,
  ): AsyncGenerator<SourceResponse, void>;
  /** Requests sent so far for this context, including retries and redirects. */
  readonly sent: number;
  /** Returns the same client with requests that end when this signal is aborted. */
  until(signal: AbortSignal): SourceHttp;
}

/** A connection for protocols other than HTTP. */
export type SourceSocket = Duplex & {
  /**
   * Writes the credential without showing it to the source: `login` as two quoted strings (IMAP LOGIN), `plain` and
   * `xoauth2` as SASL in base64. `before` is the start of the line, such as `a1 LOGIN `. A line end is added.
   *
   * @throws ApiError `source_unauthorized` if the credential is missing, `address_not_allowed` if it belongs to another
   * host
   */
  authenticate(mechanism: "login" | "plain" | "xoauth2", before?: string): Promise<void>;
};

/**
 * Opens a connection to an address that the address guard has approved.
 * @throws ApiError `address_not_allowed`, `source_unavailable`
 */
export type SourceConnect = (host: string, port: number, tls: boolean, signal?: AbortSignal) => Promise<SourceSocket>;

/** An account's access token, held by the account service. */
export interface AccountTokens {
  /** Identifies the account among all accounts. Requests with the same key share rate limits and the token refresh. */
  key: string;
  /** The only origins that the token is sent to, regardless of what the source requests. */
  origins: readonly string[];
  /** The instance that the token belongs to. Absent while the account is being created. */
  place?: { baseUrl: string; apiUrl: string };
  /** The login name, for protocols that require a login name with the token. */
  login?: string;
  accessToken(): Promise<string>;
  /**
   * Returns a new token to replace `stale`. Only one call runs at a time.
   * @throws ApiError `source_unauthorized` if there is no new token
   */
  refresh(stale: string): Promise<string>;
}
