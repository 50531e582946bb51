import type { ProblemBody } from "#api/common.ts";

/** A failed answer of the server, as its `application/problem+json` body says it. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  /** What is wrong, by the path of the body's field. */
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

/** Whether the server, or the way to it, is down for a while: what is shown stays, and it is asked again. */
export function isOutage(error: unknown): boolean {
  if (error === null || error === undefined) return false;
  const { status, code } = toProblem(error);
  return code === "no_answer" || isOutageStatus(status);
}

/** The problem of anything that was thrown; what is not an answer means that there was none. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({
    code: "no_answer",
    detail: "Can't reach the server. Check that it's running and that you're online, then try again.",
  });
}

/** Only what no field of the form shows: beside a named field nothing is said twice. */
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
