/**
 * `kb check` reads a data folder, whether or not a server is running on it, and reports every fault with its remedy.
 */
import { ApiError, isApiError } from "#api/errors.ts";
import { ANALYZER_VERSION } from "#text/analyzer.ts";
import { checkIndex, countOutdated, type IndexFault } from "#storage/check/index-check.ts";
import { checkIntegrity } from "#storage/check/integrity.ts";
import { type CheckedDatabase, openForCheck } from "#storage/check/open.ts";
import { explainFailure } from "#storage/failure.ts";
import { requireInstallation } from "./admin.ts";
import { loadSettings } from "./settings/config.ts";
import { checkChain } from "./identity/audit/chain.ts";

export interface CheckFinding {
  part: "database" | "index" | "audit";
  code: "damaged" | "unreadable" | "missing" | "access" | "orphan" | "broken";
  /** Null if the finding belongs to no workspace. */
  workspaceId: string | null;
  message: string;
  /** How to fix the fault. */
  next: string;
  count: number;
  /** Some kbIds of the items that were counted. */
  examples: string[];
}

export interface CheckReport {
  isIntact: boolean;
  workspaces: number;
  /** Items that were compared with the index. */
  items: number;
  /** Rows of the audit log that were checked. */
  auditRows: number;
  /** Workspaces whose index is being rebuilt or waits for a rebuild. */
  rebuilding: number;
  findings: CheckFinding[];
}

export interface CheckOptions {
  isFull: boolean;
  signal: AbortSignal;
  /** Called with the part being checked and the progress in that part. */
  onProgress(part: CheckFinding["part"], done: number, note: string): void;
}

type Run = CheckOptions & { database: CheckedDatabase; report: CheckReport };

const RESTORE = "Restore a backup: see docs/self-hosting.md#restore";
const REINDEX = "Run kb reindex.";
const RESTORE_ROWS = "Compare it with a backup or an earlier kb audit export.";
const EXAMPLES = 5;

const MEANINGS: Record<IndexFault, (count: number) => string> = {
  missing: (count) => `${count} of the items can't be found by search: the index doesn't have them.`,
  access: (count) => `${count} of the items have different access in the index than in their records.`,
  orphan: (count) => `${count} of the documents in the index belong to no item.`,
};

/** Checks the data folder that the settings name. @throws ApiError `data_folder_unusable`; the signal's reason */
export async function checkDataFolder(
  places: { flags: Record<string, string | undefined>; env: Readonly<Record<string, string | undefined>> },
  options: CheckOptions,
): Promise<CheckReport> {
  return await checkDatabase(requireInstallation(loadSettings(places).settings), options);
}

/** Checks a database file: its pages, every index against the items, and every workspace's audit log. */
export async function checkDatabase(file: string, options: CheckOptions): Promise<CheckReport> {
  const report: CheckReport = {
    isIntact: true,
    workspaces: 0,
    items: 0,
    auditRows: 0,
    rebuilding: 0,
    findings: [],
  };
  await findingFailures(report, "database", null, async () => {
    const database = await openForCheck(file);
    try {
      await checkAll({ ...options, database, report });
    } finally {
      await database.close();
    }
  });
  return { ...report, isIntact: report.findings.length === 0 };
}

async function checkAll(run: Run): Promise<void> {
  const { database, report } = run;
  await findingFailures(report, "database", null, () => checkFile(run));
  const workspaces = database.workspaces();
  report.workspaces = workspaces.length;
  for (const workspaceId of workspaces) {
    await findingFailures(report, "index", workspaceId, () => checkIndexOf(run, workspaceId));
    await findingFailures(report, "audit", workspaceId, () => checkAuditOf(run, workspaceId));
  }
  report.rebuilding = countOutdated(database.connection, ANALYZER_VERSION);
}

async function checkFile({ database, isFull, report, signal, onProgress }: Run): Promise<void> {
  let done = 0;
  for (const { part, problems } of checkIntegrity(database.connection, isFull)) {
    const [first] = problems;
    if (first !== undefined) {
      const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
      const message = `The database is damaged in ${part}: ${first}${more}`;
      const count = problems.length;
      report.findings.push({
        part: "database",
        code: "damaged",
        workspaceId: null,
        message,
        next: RESTORE,
        count,
        examples: [],
      });
    }
    onProgress("database", ++done, part);
    await pause(signal);
  }
}

async function checkIndexOf({ database, report, signal, onProgress }: Run, workspaceId: string): Promise<void> {
  const found = new Map<IndexFault, { count: number; examples: string[] }>();
  for (const page of checkIndex(database.connection, workspaceId)) {
    report.items += page.items;
    for (const { fault, kbId } of page.found) {
      const { count, examples } = found.get(fault) ?? { count: 0, examples: [] };
      found.set(fault, { count: count + 1, examples: [...examples, kbId].slice(0, EXAMPLES) });
    }
    onProgress("index", report.items, workspaceId);
    await pause(signal);
  }
  for (const [code, { count, examples }] of found) {
    const message = `Workspace ${workspaceId}: ${MEANINGS[code](count)}`;
    report.findings.push({ part: "index", code, workspaceId, message, next: REINDEX, count, examples });
  }
}

async function checkAuditOf({ database, report, signal, onProgress }: Run, workspaceId: string): Promise<void> {
  const audit = database.auditOf(workspaceId);
  let done = report.auditRows;
  const { isIntact, brokenAt, entries } = await checkChain({
    async readChain(options) {
      signal.throwIfAborted();
      const rows = await audit.readChain(options);
      onProgress("audit", (done += rows.length), workspaceId);
      return rows;
    },
  });
  report.auditRows += entries;
  if (isIntact) return;
  const message = `Workspace ${workspaceId}: the audit log was changed: row ${brokenAt} does not follow from the previous one.`;
  const next = RESTORE_ROWS;
  report.findings.push({ part: "audit", code: "broken", workspaceId, message, next, count: 1, examples: [] });
}

/** Runs a part of the check. A read error becomes a finding, and the other parts continue. */
async function findingFailures(
  report: CheckReport,
  part: CheckFinding["part"],
  workspaceId: string | null,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === "AbortError") throw thrown;
    const error = explainFailure(thrown);
    const isDamage = isApiError(error, "database_damaged");
    if (error instanceof ApiError && !isDamage) throw error;
    const where = workspaceId === null ? "The database" : `Workspace ${workspaceId}: the ${part}`;
    const message = `${where} can't be read: ${String(thrown instanceof Error ? thrown.message : thrown)}`;
    const next = !isDamage && part === "index" ? REINDEX : RESTORE;
    report.findings.push({ part, code: "unreadable", workspaceId, message, next, count: 1, examples: [] });
  }
}

/** Reading is synchronous, so the signal can fire only during this pause. */
async function pause(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
