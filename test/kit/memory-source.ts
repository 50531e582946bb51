import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { Source, SourceItem, SyncEvent } from "#sources/contract.ts";
import { authorityOf, type SourceAccess } from "#core/principals.ts";
import type { KitFixture } from "./fixture.ts";

/** The ways in which a source is wrong that the kit must see. */
export const MUTANTS = [
  "checkpoint-ahead",
  "deletes-dropped",
  "resends-everything",
  "check-throws",
  "check-accepts-anything",
  "access-missing",
  "access-empty",
  "foreign-principal",
  "connector-group",
  "scope-ignored",
  "random-versions",
  "no-end",
  "no-last-checkpoint",
  "complete-though-resumed-elsewhere",
  "cursor-is-now",
  "script-url",
  "empty-title",
  "duplicate-id",
  "ignores-abort",
  "content-of-anything",
  "unexplained-config",
  "unversioned",
] as const;
export type Mutant = (typeof MUTANTS)[number];

interface Cursor {
  mode: "full" | "changes";
  runId: string | undefined;
  /** Full: the last id; changes: nothing. */
  after: string | null;
  /** The change number up to which everything was handed over. */
  since: number;
}

interface Row {
  title: string;
  changed: number;
  deleted: boolean;
}

const CONNECTOR = "con_aaaaaaaaaaaaaaaa";

/** A remote with a change log, its source (right, or wrong in one way) and the kit's fixture over both. */
export async function makeMemoryFixture(mutant?: Mutant): Promise<KitFixture> {
  const rows = new Map<string, Row>();
  let change = 0;
  let calls = 0;
  const put = (id: string, title: string): string => {
    rows.set(id, { title, changed: ++change, deleted: false });
    return id;
  };
  for (let i = 1; i <= 9; i++) put(`item-${i}`, `Item ${i}`);

  const titleOf = (row: Row): string => (row.title.trim() === "" && mutant !== "empty-title" ? "Untitled" : row.title);
  const toItem = (id: string, row: Row): SourceItem => ({
    externalId: mutant === "duplicate-id" && id === "item-2" ? "item-1" : id,
    kind: "page",
    title: titleOf(row),
    url: mutant === "script-url" ? "javascript:alert(1)" : `https://wiki.test/${id}`,
    ...(mutant === "unversioned" ? {} : { version: mutant === "random-versions" ? `${++calls}` : `${row.changed}` }),
    content: { type: "fetch" },
    access: accessOf(mutant),
  });

  async function* full(since: number, runId: string | undefined, cursor: Cursor | null, include: readonly string[]) {
    const isSameRun = cursor?.mode === "full" && cursor.after !== null && runId !== undefined && cursor.runId === runId;
    const mayResume = mutant === "complete-though-resumed-elsewhere" ? cursor?.mode === "full" : isSameRun;
    const after = mayResume ? (cursor?.after ?? null) : null;
    const start = mayResume && cursor !== null ? cursor.since : since;
    const ids = [...rows.keys()].sort().filter((id) => after === null || id > after);
    let handed = 0;
    for (const id of ids) {
      const row = rows.get(id);
      if (row === undefined || row.deleted || (include.length > 0 && !include.includes(id))) continue;
      handed += 1;
      const checkpoint = { t: "checkpoint", cursor: { mode: "full", runId, after: id, since: start } } as const;
      if (mutant === "checkpoint-ahead" && handed % 2 === 0) yield checkpoint;
      yield { t: "upsert", item: toItem(id, row) } as const;
      if (mutant !== "checkpoint-ahead" && handed % 2 === 0) yield checkpoint;
    }
    const last: Cursor = { mode: "changes", runId, after: null, since: mutant === "cursor-is-now" ? change : start };
    if (mutant !== "no-last-checkpoint") yield { t: "checkpoint", cursor: last } as const;
    if (mutant !== "no-end") yield { t: "end", listing: "complete", permissions: "current" } as const;
  }

  async function* changesSince(cursor: Cursor, runId: string | undefined) {
    const until = change;
    const since = mutant === "resends-everything" ? 0 : cursor.since;
    const changed = [...rows].filter(([, row]) => row.changed > since).sort((a, b) => a[1].changed - b[1].changed);
    for (const [id, row] of changed) {
      if (!row.deleted) yield { t: "upsert", item: toItem(id, row) } as const;
      else if (mutant !== "deletes-dropped") yield { t: "delete", externalId: id } as const;
      const reached: Cursor = { mode: "changes", runId, after: null, since: row.changed };
      yield { t: "checkpoint", cursor: reached } as const;
    }
    yield { t: "checkpoint", cursor: { mode: "changes", runId, after: null, since: until } as Cursor } as const;
    yield { t: "end", listing: "partial", permissions: "not_checked" } as const;
  }

  const config = z.strictObject({
    space: z.string().meta(mutant === "unexplained-config" ? {} : { title: "Space", description: "Its short name." }),
  });
  const source: Source<{ space: string }, Cursor> = {
    spec: { providerId: "memory", name: "Memory", kinds: ["page"], auth: [{ type: "none" }], config, acl: "container" },
    async check(ctx) {
      if (ctx.config.space === "home" || mutant === "check-accepts-anything") return { ok: true };
      if (mutant === "check-throws") throw new Error("no such space");
      return {
        ok: false,
        problem: { code: "connector_check_failed", message: "There is no such space.", field: "space" },
      };
    },
    async *sync(ctx, run): AsyncGenerator<SyncEvent<Cursor>, void> {
      const include = mutant === "scope-ignored" ? [] : run.scope.include;
      const isDelta = run.mode === "incremental" && run.cursor?.mode === "changes";
      const events =
        isDelta && run.cursor !== null
          ? changesSince(run.cursor, run.runId)
          : full(change, run.runId, run.cursor, include);
      for await (const event of events) {
        if (ctx.signal.aborted && mutant !== "ignores-abort") return;
        if (ctx.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 250).unref());
        if (mutant === "deletes-dropped" && event.t === "end")
          yield { t: "end", listing: "partial", permissions: "not_checked" };
        else yield event;
      }
    },
    async fetchContent(_ctx, { externalId }) {
      if (!rows.has(externalId) && mutant !== "content-of-anything") {
        throw new ApiError("source_not_found", { message: "There is no such page." });
      }
      return { bytes: Buffer.from("text"), fileName: externalId };
    },
  };
  let added = 0;
  return {
    source,
    config: { space: "home" },
    badConfigs: [{}, { space: "home", other: 1 }, { space: "away" }],
    authority: authorityOf({ connectorId: CONNECTOR, providerId: "memory", named: ["workspace"] }),
    minItems: 9,
    narrowerScope: { include: ["item-1", "item-2"], exclude: [] },
    add: async () => put(`new-${++added}`, "New"),
    edit: async () => put("item-5", `Item 5, ${change}`),
    remove: async () => {
      rows.set("item-3", { title: "", changed: ++change, deleted: true });
      return "item-3";
    },
    addOdd: async () => [
      put("odd-1", ""),
      put("odd-2", "   "),
      put("odd-3", "日本語 🗂️ עברית"),
      put("odd-4", "x".repeat(10_000)),
    ],
  };
}

function accessOf(mutant: Mutant | undefined): SourceAccess {
  const all = [[`group:${CONNECTOR}:space`, "everyone"]];
  switch (mutant) {
    case "access-missing":
      // What a source in plain JavaScript, or one that trusts a reply, would hand over.
      return JSON.parse("{}");
    case "access-empty":
      return { known: true, all: [] };
    case "foreign-principal":
      return { known: true, all: [["group:con_bbbbbbbbbbbbbbbb:space"]] };
    case "connector-group":
      return { known: true, all: [[`group:connector:${CONNECTOR}`]] };
    default:
      return { known: true, all };
  }
}
