import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { FilesystemConfig } from "#sources/filesystem/config.ts";
import { makeFilesystemSource, type FilesystemOptions } from "#sources/filesystem/index.ts";
import { runsOf } from "#server/sync/run/run-session.ts";
import type { EventOf } from "../../scripted.ts";
import { runParts } from "../stored.ts";
import type { StoredCursor } from "#server/sync/run/stored-cursor.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SyncRequest } from "#server/sync/sync-events.ts";
import { NO_HTTP } from "../../network.ts";

/** What a run of a folder stores. */
export type FilesystemKept = StoredCursor<{ root: string }, { root: string; after: string }>;
export type FolderEvent = EventOf<FilesystemKept>;

/** A real folder with real files, a source over it, and shorthands. Stamps lie in the past, so versions are settled. */
export function makeFolder(options: Partial<FilesystemOptions> = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "kb-files-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "root");
  mkdirSync(root);
  const source = makeFilesystemSource({
    allowedRoots: async () => [root],
    dataFolder: join(base, "data"),
    ...options,
  });
  const write = (rel: string, text = rel): string => {
    const path = join(root, rel);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    utimesSync(path, PAST, PAST);
    return path;
  };
  /** `rel` and its text as Latin-1: a name of any bytes. */
  const writeBytes = (rel: string, text = rel): void => {
    const path = Buffer.from(`${root}/${rel}`, "latin1");
    mkdirSync(path.subarray(0, path.lastIndexOf("/")), { recursive: true });
    writeFileSync(path, text, "latin1");
    utimesSync(path, PAST, PAST);
  };
  const context = (
    config: Partial<FilesystemConfig> = {},
    visibility: "private" | "workspace" = "workspace",
    signal = new AbortController().signal,
  ): SyncContext<FilesystemConfig> => ({
    config: FilesystemConfig.parse({ root, ...config }),
    connector: { id: "con_aaaaaaaaaaaaaaaa", name: "Team docs", visibility },
    http: NO_HTTP,
    signal,
    now: () => NOW,
    log: () => undefined,
    ...runParts(),
  });
  const events = async (ctx = context(), request: Partial<SyncRequest> = {}): Promise<FolderEvent[]> => {
    const found: FolderEvent[] = [];
    const run = {
      mode: "full",
      scope: { include: [], exclude: [] },
      cursor: null,
    } as const;
    for await (const event of runsOf(source)?.(ctx, { ...run, ...request }) ?? []) found.push(event as FolderEvent);
    return found;
  };
  return { base, root, source, write, writeBytes, context, events };
}

const PAST = new Date("2026-03-01T08:00:00.000Z");
const NOW = Date.parse("2100-01-01T00:00:00.000Z");

/** The ids of the items handed over, in order. */
export function idsOf(events: readonly FolderEvent[]): string[] {
  return events.flatMap((event) => (event.t === "upsert" ? [event.item.externalId] : []));
}

/** `id: reason` of everything left out, in order. */
export function skipsOf(events: readonly FolderEvent[]): string[] {
  return events.flatMap((event) => (event.t === "skip" ? [`${event.externalId}: ${event.reason}`] : []));
}
