import type { AuditCheck, AuditPage, AuditQuery, AuditRead, AuditReadsQuery } from "#api/audit.ts";
import { ApiError } from "#api/errors.ts";
import { cutPage, type CursorCodec } from "#server/http/cursor.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { AuditAct, AuditPerson } from "./recorder.ts";
import type { Clock } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import { cleanLine, MAX_CHARS } from "#api/clean.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import type { AuditRecord } from "#storage/audit-chain.ts";
import { READ_ACTION } from "#storage/read-rows.ts";
import type { Store } from "#storage/records/store.ts";
import { checkChain, exportLine, readRows } from "./chain.ts";
import { type AuditBatcherOptions, makeAuditBatcher, scheduleUnheld } from "./batcher.ts";
import { idsOf, rowOf, systemRowOf } from "./rows.ts";
import { makeReadRecorder } from "./reads.ts";
import { makeReadJoiner } from "./read-joiner.ts";
import { makeUseRecorder } from "./uses.ts";

export type AuditService = ReturnType<typeof makeAuditService>;

export interface AuditOptions extends Pick<AuditBatcherOptions, "schedule"> {
  store: Store;
  clock: Clock;
  cursors: CursorCodec;
  log: Log;
}

/** Source: S53. */
const KEEP_MS = 90 * 86_400_000;
/** Some 10 ms of the writer. */
const SWEEP_SLICE = 1_000;

/** The audit of a workspace: rows are appended, chained by their hashes, and never changed. */
export function makeAuditService({ store, clock, cursors, log, schedule = scheduleUnheld }: AuditOptions) {
  const joiner = makeReadJoiner({ store, log, schedule });
  const batcher = makeAuditBatcher({ store, log, schedule, onWritten: joiner.note });
  const uses = makeUseRecorder({ store, clock, log, batcher });
  const reads = makeReadRecorder({ clock, batcher });

  async function flush(workspaceIds?: readonly string[]): Promise<void> {
    reads.settle();
    await batcher.flush();
    await joiner.join(workspaceIds);
  }

  return {
    async record(tx: Store, actor: Actor, act: AuditAct): Promise<void> {
      await tx.in(actor.workspaceId).audit.append(rowOf(actor, act, clock.now()));
    },
    async recordSystem(tx: Store, workspaceId: string, act: AuditAct, who: AuditPerson = {}): Promise<void> {
      await tx.in(workspaceId).audit.append(systemRowOf(act, who, clock.now()));
    },
    makeSystemRow: (act: AuditAct) => systemRowOf(act, {}, clock.now()),
    recordReads: reads.recordReads,
    recordUse: uses.recordUse,

    /** Lists the acts in the actor's workspace, newest first; reads have a separate list. */
    async list(actor: Actor, { limit, cursor, ...filter }: AuditQuery): Promise<AuditPage> {
      await flush([actor.workspaceId]);
      const { rows, nextCursor } = await pageOf(actor, "GET /api/audit", { limit, cursor }, filter);
      const names = await store.in(actor.workspaceId).names.of(rows.flatMap(idsOf));
      return {
        entries: rows.map((row) => ({ ...row, at: isoOf(row.at) })),
        nextCursor,
        names: Object.fromEntries([...names].map(([id, name]) => [id, cleanLine(name, MAX_CHARS.title)])),
      };
    },
    /**
     * Lists the items shown to a member, newest first: the actor's own, or another's for an admin.
     *
     * @throws ApiError `forbidden`
     */
    async listReads(
      actor: Actor,
      { limit, cursor, credential, userId = actor.userId }: AuditReadsQuery,
    ): Promise<{ reads: AuditRead[]; nextCursor: string | null }> {
      if (userId !== actor.userId && !actsAsAdmin(actor)) {
        throw new ApiError("forbidden", { message: "Only admins of the workspace can see what others read." });
      }
      await flush([actor.workspaceId]);
      const filter = { action: READ_ACTION, userId, ...defined({ credential }) };
      const page = await pageOf(actor, "GET /api/audit/reads", { limit, cursor }, filter);
      return { reads: page.rows.map(toRead), nextCursor: page.nextCursor };
    },
    /** Checks whether the workspace's chain is intact. */
    async check(actor: Actor): Promise<AuditCheck> {
      await flush([actor.workspaceId]);
      return checkChain(store.in(actor.workspaceId).audit);
    },
    /** Exports every row as a line of JSON, the oldest first, in pages; the export itself is recorded as the last row. */
    async export(actor: Actor, since?: number): Promise<AsyncGenerator<string, void>> {
      await flush([actor.workspaceId]);
      const target = { type: "workspace", id: actor.workspaceId };
      await store.transaction(async (tx) => {
        const act = {
          action: "audit.exported",
          target,
          ...(since !== undefined && { details: { since: isoOf(since) } }),
        };
        await tx.in(actor.workspaceId).audit.append(rowOf(actor, act, clock.now()));
      });
      return linesOf(actor.workspaceId, since);
    },

    /** Records an act of the server in every workspace. */
    async recordEverywhere(act: AuditAct): Promise<void> {
      for (const { workspaceId } of await store.workspaces.list()) {
        batcher.add(workspaceId, systemRowOf(act, {}, clock.now()));
      }
      await batcher.flush();
    },
    /** Writes noted rows, and deletes rows older than 90 days, in every workspace. */
    async sweep(): Promise<void> {
      const workspaceIds = (await store.workspaces.list()).map(({ workspaceId }) => workspaceId);
      // Counts of repeats wait at most until the next sweep.
      await flush(workspaceIds);
      const before = clock.now() - KEEP_MS;
      for (const workspaceId of workspaceIds) {
        const { audit } = store.in(workspaceId);
        while ((await audit.sweep(before, SWEEP_SLICE)) >= SWEEP_SLICE);
      }
    },
    /** Writes the rows noted so far. */
    flush: (): Promise<void> => flush(),
  };

  async function pageOf(
    { workspaceId, userId }: Actor,
    route: string,
    { limit, cursor }: { limit: number; cursor: string | undefined },
    filter: Pick<AuditQuery, "action" | "userId" | "since" | "until"> & { credential?: string },
  ): Promise<{ rows: AuditRecord[]; nextCursor: string | null }> {
    const scope = { workspaceId, userId, route, args: filter };
    const { since, until, ...columns } = filter;
    const rows = await store.in(workspaceId).audit.list({
      ...columns,
      ...(since !== undefined && { since: Date.parse(since) }),
      ...(until !== undefined && { until: Date.parse(until) }),
      limit: limit + 1,
      ...(cursor !== undefined && { before: cursors.decode(scope, cursor).value }),
    });
    const { page, nextCursor } = cutPage(
      rows,
      limit,
      (row) => ({ flags: 0, value: row.seq, id: "" }),
      (position) => cursors.encode(scope, position),
    );
    return { rows: page, nextCursor };
  }

  async function* linesOf(workspaceId: string, since?: number): AsyncGenerator<string, void> {
    for await (const rows of readRows(store.in(workspaceId).audit, since)) yield rows.map(exportLine).join("");
  }
}

function toRead({ at, actorUserId, credential, targetId, details }: AuditRecord): AuditRead {
  const { client, kbIds, answers, repeats } = details;
  return {
    at: isoOf(at),
    // Rows were requested for one person.
    userId: actorUserId ?? "",
    credential,
    client: typeof client === "string" ? client : null,
    tool: targetId,
    kbIds: Array.isArray(kbIds) ? kbIds.map(String) : [],
    // Rows from before answers shared a row have neither.
    answers: typeof answers === "number" ? answers : 1,
    repeats: typeof repeats === "number" ? repeats : 0,
  };
}
