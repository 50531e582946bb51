import type { ProblemBody } from "#api/common.ts";

/** An error response of the server, from its `application/problem+json` body. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  /** Error messages by the path of the field in the body. */
  readonly fields: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;

  constructor(body: Partial<ProblemBody>) {
    super(body.detail ?? (isOutageStatus(body.status) ? OUTAGE : UNEXPECTED));
    this.status = body.status ?? 0;
    this.code = body.code ?? "unknown";
    this.hint = body.hint;
    this.requestId = body.requestId;
    this.fields = fieldsOf(body);
  }
}

const UNEXPECTED = "The server sent an unexpected response. Reload the page.";
const OUTAGE = "The server isn't answering. It may be restarting: this page tries again by itself.";

function isOutageStatus(status: number | undefined): boolean {
  return status === 502 || status === 503 || status === 504;
}

/**
 * Whether the server, or the connection to it, is temporarily down. The displayed content then stays, and the query is
 * retried.
 */
export function isOutage(error: unknown): boolean {
  if (error === null || error === undefined) return false;
  const { status, code } = toProblem(error);
  return code === "no_answer" || isOutageStatus(status);
}

/** Converts any thrown value to a problem. A value that isn't a response becomes the problem that no response came. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({
    code: "no_answer",
    detail: "Can't reach the server. Check that it's running and that you're online, then try again.",
  });
}

/** Returns a problem unless a field of the form shows it, so that nothing is shown twice. */
export function problemBesideFields(problem: Problem, names: readonly string[]): Problem | undefined {
  const paths = Object.keys(problem.fields);
  return paths.length > 0 && paths.every((path) => names.includes(path)) ? undefined : problem;
}

function fieldsOf({ errors, field, detail }: Partial<ProblemBody>): Record<string, string> {
  if (errors !== undefined && errors.length > 0) {
    return Object.fromEntries(errors.map(({ path, message }) => [path, message]));
  }
  return field === undefined ? {} : { [field]: detail ?? "" };
}
