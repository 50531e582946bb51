import { open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { count, plural } from "#api/plural.ts";
import { isoOf } from "#core/instant.ts";
import type { Api } from "#cli/api.ts";
import { fieldsOf, type Noun, type OptionData, type OptionsOf } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure, usageFailure } from "#cli/failure.ts";
import { memberIdsOf } from "#cli/find.ts";
import { bytes } from "#cli/output.ts";
import { makeProgress } from "#cli/progress.ts";
import { flexible, minute, shortTime } from "#cli/table.ts";
import { parseInteger } from "#cli/values.ts";
import { remoteCommand } from "#cli/remote-command.ts";

const DEFAULT_ROWS = 50;
const WHOSE = {
  flags: "--member <member>",
  summary: "only this member: email or usr_…",
} as const satisfies OptionData;
const ROWS = { flags: "--limit <n>", summary: "how many rows (default: 50)" } as const satisfies OptionData;

const listAudit = remoteCommand(
  {
    summary: "List what was done in the workspace, newest first (admin).",
    options: [{ flags: "--action <action>", summary: "only this action, such as member.removed" }, WHOSE, ROWS],
    examples: ["kb audit list --action member.removed"],
    exitCodes: [3],
    fields: [fieldsOf("get", "/api/audit", "entries")],
  },
  async ({ api, output, options }) => {
    const names: Record<string, string> = {};
    const entries = await api.list("/api/audit", "entries", {
      query: { action: options.action, userId: await memberOf(api, options) },
      max: rowsOf(options),
      onPage: (page) => void Object.assign(names, page.names),
    });
    const named = (id: string): string => names[id] ?? id;
    output.result({ entries, nextCursor: null, names }, () =>
      output.table(
        entries,
        {
          no: (entry) => entry.seq,
          at: { value: (entry) => minute(entry.at), shown: (entry) => shortTime(entry.at) },
          who: {
            value: (entry) => entry.actorUserId ?? "system",
            shown: (entry) => named(entry.actorUserId ?? "system"),
            isFlexible: true,
          },
          with: {
            value: (entry) => entry.credential,
            shown: (entry) => credentialOf(entry.credential, named),
            isFlexible: true,
            isOptional: true,
          },
          action: (entry) => entry.action,
          what: {
            value: (entry) => entry.targetId || entry.targetType,
            shown: (entry) => named(entry.targetId) || entry.targetType,
            isFlexible: true,
          },
          outcome: (entry) => entry.outcome,
          from: { value: (entry) => entry.ip ?? "", isOptional: true },
        },
        "Nothing was recorded.",
      ),
    );
  },
);

/** `kb audit reads`: items that my credentials showed or read. */
const listReads = remoteCommand(
  {
    summary: "List the items that your tokens and clients read, newest first; admins can ask for another member.",
    options: [{ flags: "--credential <credential>", summary: "only this credential, such as pat:tok_…" }, WHOSE, ROWS],
    examples: ["kb audit reads --limit 20"],
    exitCodes: [3],
    fields: [fieldsOf("get", "/api/audit/reads", "reads")],
  },
  async ({ api, output, options }) => {
    const reads = await api.list("/api/audit/reads", "reads", {
      query: { credential: options.credential, userId: await memberOf(api, options) },
      max: rowsOf(options),
    });
    output.result({ reads, nextCursor: null }, () =>
      output.table(
        reads,
        {
          at: { value: (read) => minute(read.at), shown: (read) => shortTime(read.at) },
          with: { value: (read) => read.credential, isFlexible: true, isOptional: true },
          client: flexible((read) => read.client ?? ""),
          tool: (read) => read.tool,
          answers: (read) => read.answers,
          items: (read) => read.kbIds.length,
          again: (read) => read.repeats,
          ids: { value: (read) => read.kbIds, isFlexible: true, isOptional: true },
        },
        "Nothing was read.",
      ),
    );
  },
);

/** `kb audit check`: exit code 1 when the chain is broken. */
const checkAudit = remoteCommand(
  {
    summary: "Check that the audit log is unbroken; exit code 1 if it was changed (admin).",
    examples: ["kb audit check"],
    fields: [fieldsOf("get", "/api/audit/check")],
  },
  async ({ api, output }): Promise<number> => {
    const check = await api.get("/api/audit/check", { timeoutMs: 0 });
    output.result(check, () =>
      output.record([
        ["intact", check.isIntact ? "yes" : "no"],
        ["rows", check.entries],
        ["first", check.firstSeq ?? ""],
        ["last", check.lastSeq ?? ""],
        ["last hash", check.lastHash ?? ""],
      ]),
    );
    if (check.isIntact) {
      output.talk(
        "Every row follows from the previous one. Keep the last hash elsewhere, so that you can prove later that no rows were cut off.",
      );
      return EXIT.ok;
    }
    throw new CliFailure({
      code: "audit_broken",
      exit: EXIT.failure,
      message: `The audit log was changed: row ${check.brokenAt ?? "?"} does not follow from the previous one.`,
      hint: "Compare it with a backup or an earlier kb audit export.",
    });
  },
);

/** `kb audit export`: to stdout, or to a file that is written whole or not at all. */
const exportAudit = remoteCommand(
  {
    summary: "Export every row with its hash, oldest first, one JSON object per line (admin).",
    options: [
      { flags: "-o, --output <file>", summary: "write to this file (default: stdout); the file is complete or absent" },
      { flags: "--since <time>", summary: "only from this day on, such as 2026-01-31" },
    ],
    examples: ["kb audit export -o audit.ndjson"],
  },
  async ({ api, output, options, deps }) => {
    const path = options.output;
    const response = await api.open.get("/api/audit/export", {
      params: { query: { since: sinceOf(options.since) } },
      timeoutMs: 0,
    });
    const progress = makeProgress(deps, "Exporting", "rows");
    const done = { rows: 0, bytes: 0 };
    async function* parts(): AsyncGenerator<Buffer> {
      if (response.body === null) return;
      for await (const part of response.body) {
        const chunk = Buffer.from(part);
        done.bytes += chunk.length;
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) done.rows += 1;
        progress.update({ done: done.rows, total: null, note: bytes(done.bytes) });
        yield chunk;
      }
    }
    try {
      if (path === undefined) await toStdout(parts(), deps);
      else await toFile(parts(), resolve(deps.cwd, path));
    } catch (error) {
      throw error instanceof CliFailure ? error : cut(done.rows, error);
    } finally {
      progress.stop();
    }
    const where = path === undefined ? "" : ` to ${resolve(deps.cwd, path)}`;
    output.talk(`Exported ${plural(done.rows, "row")} (${bytes(done.bytes)})${where}.`);
  },
);

async function memberOf(api: Api, { member: word }: OptionsOf<readonly [typeof WHOSE]>): Promise<string | undefined> {
  return word === undefined ? undefined : (await memberIdsOf(api, [word]))[0];
}

function rowsOf({ limit }: OptionsOf<readonly [typeof ROWS]>): number {
  return parseInteger(limit, "--limit", 1, 100_000) ?? DEFAULT_ROWS;
}

function sinceOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw usageFailure(`--since "${text}" is not a day or a time.`, "Write 2026-01-31 or 2026-01-31T09:00Z.");
  return isoOf(at);
}

/** `session:ses_…` with the name of the session: the kind stays, because a name alone doesn't show it. */
function credentialOf(credential: string, named: (id: string) => string): string {
  const [kind = "", id = ""] = credential.split(":");
  return id === "" ? kind : `${kind} ${named(id)}`;
}

async function toStdout(parts: AsyncIterable<Buffer>, deps: Deps): Promise<void> {
  for await (const part of parts) {
    if (!deps.io.stdout.write(part)) await new Promise((resolve) => deps.io.stdout.once("drain", resolve));
  }
}

async function toFile(parts: AsyncIterable<Buffer>, path: string): Promise<void> {
  const temporary = `${path}.part`;
  const file = await open(temporary, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw usageFailure(
      `${temporary} cannot be written: ${cause.code === "EEXIST" ? "it already exists" : cause.message}.`,
      cause.code === "EEXIST" ? "If no other export is running, remove it." : undefined,
    );
  });
  try {
    for await (const part of parts) await file.writeFile(part);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
}

function cut(rows: number, cause: unknown): CliFailure {
  return new CliFailure({
    code: "cut_off",
    exit: EXIT.unreachable,
    message: `The export stopped after ${count(rows)} rows, so it is incomplete.`,
    hint: "Repeat the command.",
    cause,
  });
}

export const audit: Noun = {
  summary: "What was done and read, and who did it.",
  verbs: {
    list: listAudit,
    reads: listReads,
    check: checkAudit,
    export: exportAudit,
  },
};
