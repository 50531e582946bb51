import type { PushResult } from "#api/connector-records.ts";
import type { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { PushedLine } from "#sources/push/events.ts";
import type { Principal } from "#core/principals.ts";
import { type HiddenChild, type OpOutcome, type ParentFailure, pushResultOf } from "#storage/item-batch.ts";
import type { PushResultName, PushFailure } from "#storage/records/push-uploads.ts";

/** The answer to a pushed line: its op, or its result if it has no op. */
export interface Answer {
  line: number;
  externalId: string | null;
  notes: readonly string[];
  op?: number;
  fixed?: PushResultName;
  error?: { code: string; message: string };
}

/** Returns the answer to a line that was refused before anything was stored. */
export function refused(
  line: Pick<PushedLine, "line" | "externalId">,
  error: { code: string; message: string },
): Answer {
  const { code, message } = error;
  return { line: line.line, externalId: line.externalId ?? null, notes: [], fixed: "error", error: { code, message } };
}

/** The error of a line that names principals that this connector may not name. */
export function principalRefused(offending: readonly Principal[], what: string): { code: string; message: string } {
  const named = offending.length === 1 ? "a principal" : "principals";
  return { code: "principal_not_allowed", message: `${what} names ${named} that this connector can't name.` };
}

/** The results of a batch's ops. */
export interface Applied {
  outcomes: readonly OpOutcome[];
  hiddenChildren: readonly HiddenChild[];
}

/** Returns the answer as it is sent, after its op was applied. */
export function toResult(answer: Answer, applied?: Applied): PushResult {
  const outcome = answer.op === undefined ? undefined : applied?.outcomes[answer.op];
  const result = answer.fixed ?? (outcome === undefined ? "error" : pushResultOf(outcome));
  const { line, externalId, error } = answer;
  const hidden = applied?.hiddenChildren.filter(({ op }) => op === answer.op) ?? [];
  const notes = [...answer.notes, ...hidden.map(describeHidden)];
  return { line, externalId, result, ...defined({ error }), ...(notes.length > 0 && { notes }) };
}

const PARENT_FAILURES: Record<ParentFailure, (parent: string) => string> = {
  missing: (parent) => `its parent ${parent} is not stored`,
  nobody: (parent) => `no one can read its parent ${parent}`,
  circle: (parent) => `its parents form a cycle that begins with ${parent}`,
  too_deep: () => "it has more than 16 items above it, or too many access lists with them",
};

function describeHidden({ parentId, failure }: HiddenChild): string {
  return `parent_missing: no one may read it for now: ${PARENT_FAILURES[failure](JSON.stringify(parentId))}`;
}

/** Returns the results of lines that weren't stored, all for the same reason. */
export function toErrors(lines: readonly PushedLine[], { code, message }: ApiError): PushResult[] {
  return lines.map((line) => ({
    line: line.line,
    externalId: line.externalId ?? null,
    result: "error",
    error: { code, message },
  }));
}

/** Returns the lines that weren't stored as intended, in the form in which an upload keeps them. */
export function failuresOf(answers: readonly Answer[]): PushFailure[] {
  return answers.flatMap(({ line, externalId, fixed, error }) =>
    fixed === undefined || error === undefined ? [] : [{ line, externalId, result: fixed, ...error }],
  );
}
