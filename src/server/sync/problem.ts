import type { SourceProblem, SourceProblemCode } from "#api/common.ts";
import { ApiError, type ErrorCode } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { isUnwritable } from "#storage/unless-unwritable.ts";
import { redact } from "#core/redact.ts";
import { findShortage } from "#core/shortage.ts";

/**
 * Returns the problem that ended a run, as shown to the connector's owner. For an unknown failure, it states only the
 * kind.
 */
export function toProblem(error: unknown): SourceProblem {
  if (findShortage(error)) return { code: "resources_exhausted", message: SHORTAGE_MESSAGE };
  if (!(error instanceof ApiError)) {
    return { code: "internal", message: "The sync failed because of an internal error. See the server's log." };
  }
  if (isUnwritable(error)) return { code: error.code, message: UNWRITABLE_MESSAGES[error.code] ?? error.message };
  const { hint, field, retryAfterMs } = error;
  return {
    code: PROBLEM_CODES[error.code] ?? (error.class === "unprocessable" ? "config" : "source_error"),
    message: redact(error.message),
    ...defined({ hint, field, retryAfterMs }),
  };
}

/** Returns the problem of a run that succeeded but has items that no one can read; undefined if there are none. */
export function noteOnNobodys(count: number): SourceProblem | undefined {
  if (count === 0) return undefined;
  const items = count === 1 ? "1 item names" : `${count} items name`;
  return {
    code: "names_nobody",
    message: `${items} no one known here, so no one can read ${count === 1 ? "it" : "them"}.`,
  };
}

/** Returns the problem of a run that named groups or users that it may not name; undefined if it named none. */
export function noteOnStrangers(count: number): SourceProblem | undefined {
  if (count === 0) return undefined;
  const names = count === 1 ? "1 name was" : `${count} names were`;
  return {
    code: "names_strangers",
    message: `${names} left out: they belong to another instance or connector.`,
  };
}

/**
 * Returns the problem of a run that could not read some groups or users completely; undefined if it read all of them.
 */
export function noteOnUnread(count: number): SourceProblem | undefined {
  if (count === 0) return undefined;
  const groups = count === 1 ? "1 group or user" : `${count} groups and users`;
  return {
    code: "source_error",
    message: `The source didn't show ${groups}. Earlier data about ${count === 1 ? "it" : "them"} is used until it's too old.`,
  };
}

/** The owner of a connector may not have access to the server's machine, so these messages contain no path. */
const UNWRITABLE_MESSAGES: Partial<Record<ErrorCode, string>> = {
  storage_full:
    "The server's disk is full. Free space on the disk of its data folder; the sync then continues automatically.",
  database_unusable:
    "The server's database can't be written. Check the disk of its data folder; the sync then continues automatically.",
};

const SHORTAGE_MESSAGE =
  "The server is out of open files or processes. The sync continues automatically. If this lasts, raise the server's limits (`ulimit -n`, `LimitNOFILE` of systemd, the limit of processes of a container).";

const PROBLEM_CODES: Partial<Record<ErrorCode, SourceProblemCode>> = {
  source_unauthorized: "auth_required",
  source_rate_limited: "rate_limited",
  source_unavailable: "unreachable",
  source_not_found: "not_found",
  source_gone: "not_found",
  cursor_expired: "cursor_expired",
  source_forbidden: "forbidden",
  secret_unreadable: "auth_required",
  address_not_allowed: "forbidden",
  root_not_allowed: "forbidden",
  forbidden: "forbidden",
  connector_config_invalid: "config",
  connector_scope_invalid: "config",
  provider_unavailable: "config",
};
