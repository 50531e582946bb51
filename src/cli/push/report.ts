/** Prints the output of a push: results on stdout, a summary on stderr. */
import { cleanLine } from "#api/clean.ts";
import type { PushResult } from "#api/connector-records.ts";
import { count, plural } from "#api/plural.ts";
import type { Deps } from "#cli/host/deps.ts";
import { pick, type Output } from "#cli/terminal/output.ts";
import { makeProgress } from "#cli/terminal/progress.ts";

export type PushReport = ReturnType<typeof makeReport>;

const FAILED_RESULTS = new Set(["error", "failed", "acl_unknown"]);

/**
 * Makes the report of one push. Programs get every result as NDJSON; a person at a terminal gets only the unexpected results.
 *
 * @param fields  of `--json a,b`; undefined = all
 */
export function makeReport(deps: Deps, output: Output, isForPrograms: boolean, fields?: readonly string[]) {
  const progress = makeProgress(deps, "push", "items");
  const counts = new Map<string, number>();
  let done = 0;
  let total: number | null = null;
  let isDue = false;
  /** Updated once for all results of an answer, because they arrive at the same moment, which would distort the rate. */
  const showLater = (): void => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      progress.update({ done, total });
    });
  };
  return {
    /** Adds the result of a line or document. */
    add(result: Omit<PushResult, "line"> & { line?: number }): void {
      done += 1;
      counts.set(result.result, (counts.get(result.result) ?? 0) + 1);
      if (isForPrograms) output.ndjson(fields === undefined ? result : pick(result, fields));
      else if (FAILED_RESULTS.has(result.result)) {
        progress.stop();
        const where = result.line === undefined ? "" : `line ${result.line}  `;
        output.line(`${where}${result.externalId ?? ""}  ${result.result}: ${result.error?.message ?? ""}`);
      }
      showLater();
    },
    /** Counts lines that an earlier run of the command has sent. */
    skip(lines: number): void {
      done += lines;
    },
    /** Sets the expected number of documents; the number of lines isn't known in advance. */
    expect(documents: number | null): void {
      total = documents === null ? null : done + documents;
    },
    stop: (): void => progress.stop(),
    summary(): string {
      const parts = [...counts].map(([result, many]) => `${count(many)} ${cleanLine(result, 40).replace("_", " ")}`);
      return `${plural(
        [...counts.values()].reduce((sum, many) => sum + many, 0),
        "item",
      )} sent${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`;
    },
    get failed() {
      return [...FAILED_RESULTS].reduce((sum, result) => sum + (counts.get(result) ?? 0), 0);
    },
  };
}
