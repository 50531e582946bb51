/**
 * The only table of failures. A `code` is specific and stable; its `class` alone determines the HTTP status, the
 * JSON-RPC code, the exit code of the command line and whether a retry can help.
 */

/** The meaning of each class on every surface. */
export const ERROR_CLASSES = {
  invalid_request: { status: 400, jsonRpc: -32602, exit: 2, retryable: false, title: "Invalid request" },
  unauthenticated: { status: 401, jsonRpc: -32001, exit: 4, retryable: false, title: "Not signed in" },
  forbidden: { status: 403, jsonRpc: -32003, exit: 4, retryable: false, title: "Not allowed" },
  insufficient_scope: { status: 403, jsonRpc: -32003, exit: 4, retryable: false, title: "Scope missing" },
  not_found: { status: 404, jsonRpc: -32004, exit: 3, retryable: false, title: "Not found" },
  method_not_allowed: { status: 405, jsonRpc: -32600, exit: 2, retryable: false, title: "Method not allowed" },
  request_timeout: { status: 408, jsonRpc: -32600, exit: 7, retryable: true, title: "Request timeout" },
  conflict: { status: 409, jsonRpc: -32009, exit: 5, retryable: false, title: "Conflict" },
  gone: { status: 410, jsonRpc: -32010, exit: 3, retryable: false, title: "Gone" },
  payload_too_large: { status: 413, jsonRpc: -32600, exit: 2, retryable: false, title: "Too large" },
  unsupported_media_type: { status: 415, jsonRpc: -32600, exit: 2, retryable: false, title: "Unsupported media type" },
  unprocessable: { status: 422, jsonRpc: -32602, exit: 2, retryable: false, title: "Cannot be processed" },
  nothing_to_read: { status: 422, jsonRpc: -32602, exit: 1, retryable: false, title: "Nothing to read" },
  rate_limited: { status: 429, jsonRpc: -32029, exit: 6, retryable: true, title: "Too many requests" },
  headers_too_large: { status: 431, jsonRpc: -32600, exit: 2, retryable: false, title: "Headers too large" },
  internal: { status: 500, jsonRpc: -32603, exit: 1, retryable: false, title: "Internal error" },
  source_unavailable: { status: 502, jsonRpc: -32050, exit: 7, retryable: true, title: "Source unavailable" },
  unavailable: { status: 503, jsonRpc: -32050, exit: 7, retryable: true, title: "Unavailable" },
  loop_detected: { status: 508, jsonRpc: -32600, exit: 2, retryable: false, title: "Loop detected" },
  storage_full: { status: 507, jsonRpc: -32050, exit: 7, retryable: true, title: "Insufficient storage" },
} as const;

export type ErrorClass = keyof typeof ERROR_CLASSES;

/** Every code that a caller can get, with its class. Adding a code is compatible; changing a code's class isn't. */
export const ERROR_CODES = {
  // Each class is also a code, for the generic case.
  invalid_request: "invalid_request",
  unauthenticated: "unauthenticated",
  forbidden: "forbidden",
  insufficient_scope: "insufficient_scope",
  not_found: "not_found",
  method_not_allowed: "method_not_allowed",
  request_timeout: "request_timeout",
  conflict: "conflict",
  gone: "gone",
  payload_too_large: "payload_too_large",
  unsupported_media_type: "unsupported_media_type",
  unprocessable: "unprocessable",
  nothing_to_read: "nothing_to_read",
  rate_limited: "rate_limited",
  headers_too_large: "headers_too_large",
  internal: "internal",
  source_unavailable: "source_unavailable",
  unavailable: "unavailable",
  /** The server's disk is full: reading continues, but nothing is stored. */
  storage_full: "storage_full",
  loop_detected: "loop_detected",
  /** A kb instance queries itself, directly or through too many other instances. */
  loop: "loop_detected",

  // Authentication and limits
  two_credentials: "invalid_request",
  credential_in_url: "invalid_request",
  host_not_allowed: "forbidden",
  origin_not_allowed: "forbidden",
  sign_in_failed: "unauthenticated",
  recent_sign_in_required: "forbidden",
  role_too_low: "forbidden",
  group_closed: "forbidden",
  onboarding_closed: "conflict",
  onboarding_needed: "conflict",
  setup_code_invalid: "forbidden",
  invitation_invalid: "gone",
  email_taken: "conflict",
  already_member: "conflict",
  group_cycle: "unprocessable",
  unknown_member: "unprocessable",
  /** The source didn't name the user, or the user isn't active there. */
  unknown_person: "unprocessable",
  /** Users of this connector's instance can't be members, because no authorized person has marked the instance as trusted. */
  instance_not_trusted: "unprocessable",
  unknown_group: "unprocessable",
  password_too_weak: "unprocessable",
  last_owner: "conflict",
  sign_up_closed: "forbidden",
  /** A link that was emailed or handed over is unknown, used, or expired. */
  link_invalid: "gone",
  mail_not_configured: "unprocessable",
  mail_failed: "unavailable",
  already_verified: "conflict",
  workspace_limit_reached: "conflict",
  quota_reached: "conflict",
  sso_not_configured: "not_found",
  /** The operator hasn't registered this server at the provider. */
  account_provider_not_configured: "unprocessable",
  /** Another member of the workspace is already linked to this user of the provider. */
  account_taken: "conflict",
  /** The token belongs to another account than the one to be reconnected. */
  account_differs: "conflict",
  sso_failed: "forbidden",
  /** A consent or device request is unknown, already decided, or expired. A request of another browser is `forbidden`. */
  consent_invalid: "gone",
  password_needed: "forbidden",
  /** A signed-in person entered a wrong password. */
  password_wrong: "forbidden",
  token_limit_reached: "conflict",
  already_created: "conflict",
  idempotency_key_reused: "conflict",

  // Lists, tools
  invalid_cursor: "invalid_request",
  invalid_argument: "invalid_request",
  unknown_argument: "invalid_request",
  no_such_person: "invalid_request",
  no_text: "nothing_to_read",
  /** A secret in the item was masked, and its original still contains it. */
  original_masked: "forbidden",
  past_end: "invalid_request",
  no_such_section: "not_found",

  // Connectors
  provider_unknown: "invalid_request",
  provider_unavailable: "unprocessable",
  connector_config_invalid: "unprocessable",
  connector_scope_invalid: "unprocessable",
  connector_check_failed: "unprocessable",
  connector_state_conflict: "conflict",
  credential_required: "conflict",
  visibility_not_supported: "unprocessable",
  root_not_allowed: "unprocessable",
  sync_not_running: "conflict",
  push_line_invalid: "invalid_request",
  push_upload_over: "conflict",
  push_upload_incomplete: "conflict",
  push_cut: "invalid_request",
  principal_not_allowed: "unprocessable",

  // Provider servers
  server_exists: "conflict",
  /** The secrets of existing connections aren't sent to a new address of their server. */
  server_has_connections: "conflict",
  server_config_invalid: "unprocessable",
  /** The test failed: `details` contains the step and the code. */
  server_check_failed: "unprocessable",
  server_disabled: "conflict",
  app_unknown: "unprocessable",
  /** This app is connected in a browser. */
  intent_required: "conflict",
  /** This app is connected without a browser. */
  intent_not_needed: "conflict",
  connection_failed: "unprocessable",
  /** The owner of a connection hasn't agreed to an admin's mapping of the server's tools. */
  agreement_required: "unprocessable",

  // Sources; their clients report these codes (E5)
  source_unauthorized: "source_unavailable",
  source_rate_limited: "source_unavailable",
  source_not_found: "unprocessable",
  /** The source refuses access to this item, container or group. The cause is neither a limit nor wrong credentials. */
  source_forbidden: "unprocessable",
  source_gone: "unprocessable",
  /** The source no longer knows the position where the last sync ended, so the next sync reads everything. */
  cursor_expired: "source_unavailable",
  /** The version of the content at the source isn't the stored version. */
  source_changed: "conflict",
  /** The address is private, or not one that connectors may reach. */
  address_not_allowed: "unprocessable",

  // The host
  data_folder_unusable: "unavailable",
  data_folder_in_use: "unavailable",
  database_unusable: "unavailable",
  database_damaged: "unavailable",
  port_in_use: "unavailable",
  /** The program's files were replaced while it was running. */
  restart_needed: "unavailable",
  schema_too_new: "unavailable",
  /** The database is older than every version that this program can migrate. */
  schema_too_old: "unavailable",
  search_timeout: "unavailable",
  /** More searches are waiting than can start within a second. */
  search_overloaded: "unavailable",
  settings_invalid: "invalid_request",
  secret_unreadable: "unavailable",
  /** The server can't open more files, or start more processes. */
  resources_exhausted: "unavailable",
} as const satisfies Record<string, ErrorClass>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ApiErrorOptions {
  /** The failure, with the value (never a secret), followed by what to do next. */
  message: string;
  /** The command or action that helps, if there is one. */
  hint?: string;
  /** The invalid body field or argument, as a dotted path. */
  field?: string;
  /** Every invalid field, for validation failures. */
  errors?: { path: string; message: string }[];
  /** For `rate_limited` and `unavailable`: milliseconds after which a retry can succeed. */
  retryAfterMs?: number;
  /** Extra facts for programs; no secrets. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** A failure that a caller can get. Everything else that is thrown is a bug and becomes `internal`. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly field: string | undefined;
  readonly errors: { path: string; message: string }[] | undefined;
  readonly retryAfterMs: number | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, options: ApiErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.field = options.field;
    this.errors = options.errors;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
  }

  get class(): ErrorClass {
    return ERROR_CODES[this.code];
  }

  get status(): number {
    return ERROR_CLASSES[this.class].status;
  }
}

/** True for an `ApiError` with this code. */
export function isApiError(error: unknown, code?: ErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** The error for an id that doesn't exist and for one that the caller may not see, with the same text. Source: S25. */
export function noSuchThing(): ApiError {
  return new ApiError("not_found", { message: "Nothing with this ID exists, or you can't see it." });
}

/** The error for an action that this person or credential may not perform. */
export function forbidden(message: string, hint?: string): ApiError {
  return new ApiError("forbidden", { message, ...(hint !== undefined && { hint }) });
}

/** Returns the record that was looked up by its id. @throws ApiError `not_found` if nothing was found */
export function existing<T>(thing: T | undefined): T {
  if (thing === undefined) throw noSuchThing();
  return thing;
}

/** Ends a switch over a union. TypeScript reports an error if a member is missing. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${String(value)}`);
}
