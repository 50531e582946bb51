import { open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { count, plural } from "#api/plural.ts";
import { isoOf } from "#core/instant.ts";
import { route, type Noun, type OptionsData, type OptionsOf } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";
import { failure, isFailure, usageFailure, type CliFailure } from "#cli/host/failure.ts";
import { memberIdOf } from "#cli/records/find.ts";
import { bytes } from "#cli/terminal/output.ts";
import { makeProgress } from "#cli/terminal/progress.ts";
import { flexible, optional, time } from "#cli/terminal/table.ts";
import { parseInteger } from "#cli/line/values.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";

const DEFAULT_ROWS = 50;
const WHOSE = { "--member <member>": "only this member: email or usr_…" } as const satisfies OptionsData;
const ROWS = { "--limit <n>": "how many rows (default: 50)" } as const satisfies OptionsData;

function rowsOf({ limit }: OptionsOf<typeof ROWS>): number {
  return parseInteger(limit, "--limit", 1, 100_000) ?? DEFAULT_ROWS;
}

function sinceOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw usageFailure(`--since "${text}" is not a day or a time.`, "Write 2026-01-31 or 2026-01-31T09:00Z.");
  return isoOf(at);
}

/** Formats `session:ses_…` with the name of the session. The kind is kept, because the name alone doesn't show it. */
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
  return failure(
    "unreachable",
    "cut_off",
    `The export stopped after ${count(rows)} rows, so it is incomplete.`,
    "Repeat the command.",
    { cause },
  );
}

export const audit: Noun = {
  summary: "What was done and read, and who did it.",
  verbs: {
    list: remoteCommand(
      {
        summary: "List what was done in the workspace, newest first (admins only).",
        options: { "--action <action>": "only this action, such as member.removed", ...WHOSE, ...ROWS },
        examples: ["kb audit list --action member.removed"],
        exitCodes: [3],
        fields: [route("get", "/api/audit", "entries")],
      },
      async ({ api, output, options }) => {
        const names: Record<string, string> = {};
        const entries = await api.list("/api/audit", "entries", {
          query: { action: options.action, userId: await memberIdOf(api, options.member) },
          max: rowsOf(options),
          onPage: (page) => void Object.assign(names, page.names),
        });
        const named = (id: string): string => names[id] ?? id;
        output.result({ entries, nextCursor: null, names }, () =>
          output.table(
            entries,
            {
              no: "seq",
              at: time(({ at }) => at),
              who: {
                value: ({ actorUserId }) => actorUserId ?? "system",
                shown: ({ actorUserId }) => named(actorUserId ?? "system"),
                isFlexible: true,
              },
              with: optional({
                value: "credential",
                shown: ({ credential }) => credentialOf(credential, named),
                isFlexible: true,
              }),
              action: "action",
              what: {
                value: ({ targetId, targetType }) => targetId || targetType,
                shown: ({ targetId, targetType }) => named(targetId) || targetType,
                isFlexible: true,
              },
              outcome: "outcome",
              from: optional("ip"),
            },
            "Nothing was recorded.",
          ),
        );
      },
    ),
    /** `kb audit reads`: lists items that my credentials were shown or have read. */
    reads: remoteCommand(
      {
        summary: "List the items that your tokens and clients read, newest first; admins can ask for another member.",
        options: { "--credential <credential>": "only this credential, such as pat:tok_…", ...WHOSE, ...ROWS },
        examples: ["kb audit reads --limit 20"],
        exitCodes: [3],
        fields: [route("get", "/api/audit/reads", "reads")],
      },
      async ({ api, output, options }) => {
        const reads = await api.list("/api/audit/reads", "reads", {
          query: { credential: options.credential, userId: await memberIdOf(api, options.member) },
          max: rowsOf(options),
        });
        output.list(
          "reads",
          reads,
          {
            at: time(({ at }) => at),
            with: optional(flexible("credential")),
            client: flexible("client"),
            tool: "tool",
            answers: "answers",
            items: ({ kbIds }) => kbIds.length,
            again: "repeats",
            ids: optional(flexible("kbIds")),
          },
          "Nothing was read.",
        );
      },
    ),
    /** `kb audit check`: exit code 1 when the chain is broken. */
    check: remoteCommand(
      {
        summary: "Check that the audit log is intact; exit code 1 if it was changed (admins only).",
        examples: ["kb audit check"],
        call: route("get", "/api/audit/check"),
      },
      async ({ output, send }) => {
        const check = await send({ timeoutMs: 0 });
        output.result(check, () =>
          output.record([
            ["intact", check.isIntact ? "yes" : "no"],
            ["rows", check.entries],
            ["first", check.firstSeq],
            ["last", check.lastSeq],
            ["last hash", check.lastHash],
          ]),
        );
        if (check.isIntact) {
          return output.talk(
            "Every row follows from the previous one. Keep the last hash elsewhere, so that you can prove later that no rows were cut off.",
          );
        }
        throw failure(
          "failure",
          "audit_broken",
          `The audit log was changed: row ${check.brokenAt ?? "?"} does not follow from the previous one.`,
          "Compare it with a backup or an earlier kb audit export.",
        );
      },
    ),
    /** `kb audit export`: writes to stdout, or to a file that is written completely or not at all. */
    export: remoteCommand(
      {
        summary: "Export every row with its hash, oldest first, one JSON object per line (admins only).",
        options: {
          "-o, --output <file>": "write to this file (default: stdout); it is written only if the export is complete",
          "--since <time>": "only from this day on, such as 2026-01-31",
        },
        examples: ["kb audit export -o audit.ndjson"],
      },
      async ({ api, output, options, deps }) => {
        const path = options.output === undefined ? undefined : resolve(deps.cwd, options.output);
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
          else await toFile(parts(), path);
        } catch (error) {
          throw isFailure(error) ? error : cut(done.rows, error);
        } finally {
          progress.stop();
        }
        const where = path === undefined ? "" : ` to ${path}`;
        output.talk(`Exported ${plural(done.rows, "row")} (${bytes(done.bytes)})${where}.`);
      },
    ),
  },
};
