import { count, plural } from "#api/plural.ts";
import { command, ownFields, type CommandData } from "#cli/line/command.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { DATA_DIR } from "#cli/line/options.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import { makeProgress } from "#cli/terminal/progress.ts";
import type { CheckReport } from "#server/check.ts";

const CHECK = {
  summary: "Check the data folder: database, search index and audit log; exit code 8 if something is wrong.",
  details:
    "It changes nothing, and works whether the server is running or not. Run it as the user that runs the server. Each finding says what to do next.",
  options: { ...DATA_DIR, "--full": "also compare every index of the database with its table, which takes longer" },
  examples: ["kb check --data-dir /var/lib/kb", "kb check --json findings"],
  exitCodes: [7, 8, 130],
  fields: ownFields<CheckReport>("isIntact", "workspaces", "items", "auditRows", "rebuilding", "findings"),
} as const satisfies CommandData;

const LABELS = {
  database: { label: "Checking the database", unit: "tables" },
  index: { label: "Comparing the index", unit: "items" },
  audit: { label: "Checking the audit log", unit: "rows" },
};

/** `kb check`: exit code 8 when it finds a fault. */
export const check = command(CHECK, async (input, deps) => {
  const { checkDataFolder } = await import("#server/check.ts");
  let progress: { part: string; show: ReturnType<typeof makeProgress> } | undefined;
  const report = await checkDataFolder(
    { flags: { dataDir: input.options.dataDir }, env: deps.env },
    {
      isFull: input.options.full,
      signal: deps.signal,
      onProgress(part, done, note) {
        if (progress?.part !== part) {
          progress?.show.stop();
          progress = { part, show: makeProgress(deps, LABELS[part].label, LABELS[part].unit) };
        }
        progress.show.update({ done, total: null, note });
      },
    },
  ).finally(() => progress?.show.stop());
  const output = makeOutput(input, deps);
  output.result(report, () => print(report, output));
  if (report.rebuilding > 0) {
    output.talk(`The index of ${plural(report.rebuilding, "workspace")} is being rebuilt, or will be when kb starts.`);
  }
  if (report.isIntact) return EXIT.ok;
  output.talk(`Found ${plural(report.findings.length, "fault")}.`);
  return EXIT.finishedWithErrors;
});

function print({ isIntact, workspaces, items, auditRows, findings }: CheckReport, output: Output): void {
  output.record([
    ["intact", isIntact ? "yes" : "no"],
    ["workspaces", count(workspaces)],
    ["items", count(items)],
    ["audit rows", count(auditRows)],
  ]);
  for (const { message, next, examples } of findings) {
    output.line(`${message} ${next}`);
    if (examples.length > 0) output.line(`  such as ${examples.join(", ")}`);
  }
}
