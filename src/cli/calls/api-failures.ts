/** Translates a failed call for a person: the reason, the next command, the exit code. */
import { ERROR_CLASSES, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { readNetworkFailure } from "#api/network-failure.ts";
import { isLoopbackHost, type ServerUrl } from "#api/server-url.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { CliFailure, failure, interrupted } from "#cli/host/failure.ts";
import type { Answer } from "#cli/host/http.ts";
import type { Credential, Settings } from "#cli/login/settings.ts";
import { asRecord, parseObject, textOf } from "#cli/host/state-file.ts";

/** The failure when the server gives no answer at all. */
export function unreachable(error: unknown, server: ServerUrl, signal: AbortSignal, timeoutMs: number): CliFailure {
  if (signal.aborted) return interrupted();
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  const why = isTimeout ? `no answer within ${timeoutMs / 1000} s` : readNetworkFailure(error).why;
  return failure(
    "unreachable",
    "unreachable",
    `No answer from ${server.baseUrl}: ${why}.`,
    `${isLoopbackHost(new URL(server.baseUrl).hostname) ? "Start it with kb serve or kb quickstart" : "Check the address"}, or name another server with --url or KB_URL.`,
    { cause: error },
  );
}

/** The failure when the answer's body broke off. @param status  the HTTP status of the answer */
export function brokenOff(status: number, signal: AbortSignal, cause: unknown): CliFailure {
  if (signal.aborted) return interrupted();
  const message = "The answer ended early.";
  return failure("unreachable", "unreachable", message, undefined, { status, cause });
}

/** The failure when the server rejects the call, or isn't a kb server. It reads the answer to its end. */
export async function failureOf(
  response: Answer,
  settings: Settings,
  credential: Credential | undefined,
): Promise<CliFailure> {
  const { status } = response;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    return failure(
      "unreachable",
      "redirect_refused",
      `${settings.server.baseUrl} redirects (HTTP ${status}). kb doesn't follow redirects, because your credential would go with them.`,
      "Name the server's final address with --url or KB_URL.",
      { requestId },
    );
  }
  const problem = parseObject(await response.text().catch(() => ""));
  const code = textOf(problem?.["code"]);
  if (problem === undefined || code === undefined) return notKb(settings.server, status);
  return new CliFailure({
    code,
    exit: exitOf(code, status),
    message: withoutCredential(messageOf(problem, status), credential),
    hint: hintFor(code, settings, credential) ?? textOf(problem["hint"]),
    requestId: textOf(problem["requestId"]) ?? requestId,
    status,
    retryAfterMs: retryAfterOf(response),
  });
}

/** Removes the credential, because a server may quote its input and the credential must not reach a screen or a log. */
function withoutCredential(text: string, credential: Credential | undefined): string {
  return credential === undefined ? text : text.replaceAll(credential.value, "…");
}

/** Returns `Retry-After` in seconds; this server never sends its other form, a date. */
function retryAfterOf(response: Answer): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

function messageOf(problem: Record<string, unknown>, status: number): string {
  const detail = textOf(problem["detail"]) ?? textOf(problem["title"]) ?? `HTTP ${status}`;
  const errors = Array.isArray(problem["errors"]) ? problem["errors"] : [];
  const lines = errors.flatMap((item: unknown) => {
    const record = asRecord(item);
    const message = textOf(record?.["message"]);
    return message === undefined || detail.includes(message) ? [] : [`  ${textOf(record?.["path"]) ?? ""}: ${message}`];
  });
  return [detail, ...lines].join("\n");
}

function exitOf(code: string, status: number): number {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CLASSES[ERROR_CODES[code as ErrorCode]].exit;
  // The error code is from a newer server. Its status still identifies the class.
  return Object.values(ERROR_CLASSES).find((known) => known.status === status)?.exit ?? EXIT.failure;
}

/** Returns the next command if this program knows more than the server, which doesn't know how the person signed in here. */
function hintFor(code: string, settings: Settings, credential: Credential | undefined): string | undefined {
  const { baseUrl } = settings.server;
  const isEnv = credential?.login === "environment";
  if (code === "unauthenticated") {
    return isEnv ? `Put a valid token in ${credential.from}.` : `Sign in again: kb login ${baseUrl}`;
  }
  if (code === "sign_in_failed") return `If you forgot it, open ${baseUrl}/forgot-password or ask an admin for a link.`;
  if (code !== "insufficient_scope" || credential?.login !== "browser") return undefined;
  return `If you are an admin: kb login ${baseUrl} --admin gives you those rights for an hour.`;
}

/** The failure when the answer isn't from a kb server. */
export function notKb(server: ServerUrl, status: number, cause?: unknown): CliFailure {
  return failure(
    "unreachable",
    "unexpected_answer",
    `${server.baseUrl} answers HTTP ${status}, but it doesn't look like a kb server.`,
    "Check the address: kb whoami --url …",
    { cause },
  );
}
