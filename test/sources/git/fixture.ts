import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { AddressGuard } from "#net/address-guard.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SyncRequest } from "#server/sync/sync-events.ts";
import { GitConfig } from "#sources/git-repository/config.ts";
import { type GitOptions, makeGitSource } from "#sources/git/index.ts";
import type { GitCursor, GitPlace } from "#sources/git-repository/cursor.ts";
import type { StoredCursor } from "#server/sync/run/stored-cursor.ts";
import { runsOf } from "#server/sync/run/run-session.ts";
import type { EventOf } from "../../scripted.ts";
import { runParts } from "../stored.ts";
import { NO_HTTP, NO_NETWORK } from "../../network.ts";
import { guardOf } from "../../net/everywhere.ts";

/** What a run of a repository stores. */
export type GitKept = StoredCursor<GitCursor, GitPlace>;
export type GitEvent = EventOf<GitKept>;

export const CONNECTOR_ID = "con_aaaaaaaaaaaaaaaa";

/** `PATH` of the tests: the program under test gets it as the server does. */
export const SEARCH_PATH = process.env["PATH"] ?? "";

/** Upkeep would start a program of its own after each commit. */
const SETTINGS = [
  "init.defaultBranch=main",
  "protocol.file.allow=always",
  "maintenance.auto=false",
  "gc.auto=0",
].flatMap((setting) => ["-c", setting]);

/** Runs git as a person of the test would, with a clock that ticks by the commit. */
let ticks = 0;
export function git(folder: string, ...args: string[]): string {
  const at = `${1_700_000_000 + ticks++ * 60} +0000`;
  return execFileSync("git", [...SETTINGS, ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: SEARCH_PATH,
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "Ana Diaz",
      GIT_AUTHOR_EMAIL: "ana@example.test",
      GIT_COMMITTER_NAME: "Ana Diaz",
      GIT_COMMITTER_EMAIL: "ana@example.test",
      GIT_AUTHOR_DATE: at,
      GIT_COMMITTER_DATE: at,
    },
  });
}

/** A commit with a tree of any names at all: git's own commands refuse most of these. */
export function commitRaw(
  root: string,
  entries: readonly (readonly [mode: string, name: Uint8Array, text: string])[],
): string {
  const call = (args: string[], input: Uint8Array | string) =>
    execFileSync("git", args, { cwd: root, input, env: { PATH: SEARCH_PATH, ...WHO }, encoding: "latin1" }).trim();
  const blob = (text: string) => call(["hash-object", "-w", "--stdin"], text);
  const sorted = entries.toSorted(([, a], [, b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const rows = sorted.flatMap(([mode, name, text]) => {
    const oid = mode === "160000" ? "1".repeat(40) : blob(text);
    return [Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(oid, "hex")];
  });
  const tree = call(["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], Buffer.concat(rows));
  const commit = call(["commit-tree", tree, "-m", "raw"], "");
  git(root, "update-ref", "refs/heads/main", commit);
  return commit;
}

const WHO = {
  GIT_AUTHOR_NAME: "Raw",
  GIT_AUTHOR_EMAIL: "raw@example.test",
  GIT_COMMITTER_NAME: "Raw",
  GIT_COMMITTER_EMAIL: "raw@example.test",
};

/** A folder that goes away with the test. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "kb-git-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A real repository, empty or a copy of another's folder, a source that may read it, and shorthands. */
export function makeRepository(options: Partial<GitOptions> = {}, original?: string) {
  const base = tempFolder();
  const root = join(base, "repo");
  if (original === undefined) {
    mkdirSync(root);
    // Without the samples of hooks, which are most of the files of a new repository.
    git(root, "init", "--quiet", "--template=");
  } else cpSync(original, root, { recursive: true, preserveTimestamps: true });
  const write = (path: string, text: string | Uint8Array = path) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const commit = (message = "change", ...more: string[]): string => {
    git(root, "add", "--all");
    git(root, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", message, ...more);
    return headOf(root);
  };
  return { root, write, commit, git: (...args: string[]) => git(root, ...args), ...makeReader(base, root, options) };
}

/** The commit that is checked out, without a program: one that was just made stands in a file of its own. */
function headOf(root: string): string {
  const read = (name: string) => readFileSync(join(root, ".git", name), "utf8").trim();
  const head = read("HEAD");
  return head.startsWith("ref: ") ? read(head.slice("ref: ".length)) : head;
}

/** A source with a data folder of its own, over the repository at this URL. */
export function makeReader(base: string, url: string, options: Partial<GitOptions> = {}) {
  const source = makeGitSource({
    allowedRoots: async () => [base],
    dataFolder: join(base, "data"),
    isOpenToStrangers: false,
    guard: NO_NETWORK,
    searchPath: SEARCH_PATH,
    ...options,
  });
  onTestFinished(async () => source.forget?.(CONNECTOR_ID));
  const context = (
    config: Partial<GitConfig> = {},
    more: Partial<SyncContext<GitConfig>> = {},
  ): SyncContext<GitConfig> => ({
    config: GitConfig.parse({ url, ...config }),
    connector: { id: CONNECTOR_ID, name: "Code", visibility: "workspace" },
    http: NO_HTTP,
    signal: new AbortController().signal,
    now: () => Date.parse("2026-11-21T09:30:00.000Z"),
    log: () => undefined,
    ...runParts(),
    ...more,
  });
  return { base, source, context, ...makeRunner(source, context) };
}

/** Runs with what the runs before have stored, as the engine does: versions and the cursor. */
function makeRunner(
  source: ReturnType<typeof makeGitSource>,
  context: (config?: Partial<GitConfig>) => SyncContext<GitConfig>,
) {
  const versions = new Map<string, string>();
  let cursor: GitKept | null = null;
  let runs = 0;
  /** `until` ends the run as a crash would, right after that event was stored; `isAnew` = nothing is stored. */
  async function run(
    ctx = context(),
    request: Partial<SyncRequest> = {},
    until: (event: GitEvent) => boolean = () => false,
    isAnew = false,
  ): Promise<GitEvent[]> {
    const events: GitEvent[] = [];
    const stored = runParts((id) => versions.get(id));
    const said = runsOf(source)?.(isAnew ? ctx : { ...ctx, ...stored }, {
      mode: cursor === null ? "full" : "incremental",
      runId: `run${++runs}`,
      scope: { include: [], exclude: [] },
      cursor,
      ...request,
    });
    for await (const each of said ?? []) {
      const event = each as GitEvent;
      events.push(event);
      if (event.t === "checkpoint") cursor = event.cursor;
      if (event.t === "upsert") {
        if (event.item.formerId !== undefined) versions.delete(event.item.formerId);
        versions.set(event.item.externalId, event.item.version ?? "");
      }
      if (event.t === "delete") versions.delete(event.externalId);
      if (event.t === "delete_container") {
        for (const id of versions.keys()) if (id.startsWith(`${event.id}/`)) versions.delete(id);
      }
      if (until(event)) break;
    }
    return events;
  }
  return { run, versions };
}

/** A guard that takes one host for this machine, as if it were listed. */
export function loopbackGuard(): AddressGuard & { asked: string[] } {
  const asked: string[] = [];
  const guard = guardOf(async ({ host, port }) => {
    asked.push(`${host}:${port}`);
    return { host, port, address: "127.0.0.1", family: 4, isListed: true };
  });
  return { asked, ...guard };
}

export function itemsOf(events: readonly GitEvent[]) {
  return events.flatMap((event) => (event.t === "upsert" ? [event.item] : []));
}

/** What happened, in short: `+path`, `-path`, `old>new`, `=path` for unchanged, `!path: reason`. */
export function digestOf(events: readonly GitEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.t) {
      case "upsert":
        return [
          event.item.formerId === undefined
            ? `+${event.item.externalId}`
            : `${event.item.formerId}>${event.item.externalId}`,
        ];
      case "delete":
        return [`-${event.externalId}`];
      case "seen":
        return event.externalIds.map((id) => `=${id}`);
      case "skip":
        return [`!${event.externalId}: ${event.reason}`];
      case "end":
        return [event.listing === "complete" ? "complete" : "end"];
      default:
        return [];
    }
  });
}
