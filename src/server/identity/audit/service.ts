import { forbidden } from "#api/errors.ts";
import type { CursorCodec } from "#server/http/cursor.ts";
import type { Parts } from "#storage/records/parts.ts";
import type { PageQuery } from "#api/common.ts";
import { readPage } from "#server/http/pages.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import type { AuditQuery, AuditRead, auditRoutes } from "#api/audit.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { AuditAct } from "#storage/audit-act.ts";
import type { AuditPerson } from "./recorder.ts";
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

export interface AuditOptions extends Pick<AuditBatcherOptions, "schedule">, Pick<Parts, "store" | "clock" | "log"> {
  cursors: CursorCodec;
}

/** How long audit rows are kept, in milliseconds. Source: S53. */
const KEEP_MS = 90 * 86_400_000;
/** Rows deleted at once: some 10 ms of the writer. */
const SWEEP_SLICE = 1_000;

/** The audit log of a workspace. Rows are appended, chained by their hashes, and never changed. */
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

  const handlers: MemberHandlers<Omit<typeof auditRoutes, "export">> = {
    /** Lists the actions in the actor's workspace, the newest first. Reads are in a separate list. */
    async list({ actor, query: { limit, cursor, ...filter } }) {
      await flush([actor.workspaceId]);
      const { page: rows, nextCursor } = await pageOf(actor, "GET /api/audit", { limit, cursor }, filter);
      const names = await store.in(actor.workspaceId).names.of(rows.flatMap(idsOf));
      return {
        entries: rows.map((row) => ({ ...row, at: isoOf(row.at) })),
        nextCursor,
        names: Object.fromEntries([...names].map(([id, name]) => [id, cleanLine(name, MAX_CHARS.title)])),
      };
    },
    /**
     * Lists the items shown to a member: the actor, or any member if the actor is an admin.
     *
     * @throws ApiError `forbidden`
     */
    async reads({ actor, query: { limit, cursor, credential, userId = actor.userId } }) {
      if (userId !== actor.userId && !actsAsAdmin(actor)) {
        throw forbidden("Only admins of the workspace can see what others read.");
      }
      await flush([actor.workspaceId]);
      const filter = { action: READ_ACTION, userId, ...defined({ credential }) };
      const { page, nextCursor } = await pageOf(actor, "GET /api/audit/reads", { limit, cursor }, filter);
      return { reads: page.map(toRead), nextCursor };
    },
    /** Checks whether the workspace's chain is intact. */
    async check({ actor }) {
      await flush([actor.workspaceId]);
      return checkChain(store.in(actor.workspaceId).audit);
    },
  };

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
    ...handlers,
    /** Exports every row as a line of JSON, the oldest first, in pages. The last row records the export itself. */
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

    /** Records an action of the server in every workspace. */
    async recordEverywhere(act: AuditAct): Promise<void> {
      for (const { workspaceId } of await store.workspaces.list()) {
        batcher.add(workspaceId, systemRowOf(act, {}, clock.now()));
      }
      await batcher.flush();
    },
    /** Writes waiting rows, and deletes rows older than 90 days, in every workspace. */
    async sweep(): Promise<void> {
      const workspaceIds = (await store.workspaces.list()).map(({ workspaceId }) => workspaceId);
      // The counts of repeated reads are written at the latest by the next sweep.
      await flush(workspaceIds);
      const before = clock.now() - KEEP_MS;
      for (const workspaceId of workspaceIds) {
        const { audit } = store.in(workspaceId);
        while ((await audit.sweep(before, SWEEP_SLICE)) >= SWEEP_SLICE);
      }
    },
    /** Writes all rows that wait. */
    flush: (): Promise<void> => flush(),
  };

  function pageOf(
    actor: Actor,
    route: string,
    query: PageQuery,
    filter: Pick<AuditQuery, "action" | "userId" | "since" | "until"> & { credential?: string },
  ): Promise<{ page: AuditRecord[]; nextCursor: string | null }> {
    const { since, until, ...columns } = filter;
    return readPage(
      { cursors },
      actor,
      {
        route,
        args: filter,
        read: ({ limit, after }) =>
          store.in(actor.workspaceId).audit.list({
            ...columns,
            ...(since !== undefined && { since: Date.parse(since) }),
            ...(until !== undefined && { until: Date.parse(until) }),
            limit,
            ...defined({ before: after?.value }),
          }),
        positionOf: ({ seq }) => ({ value: seq, id: "" }),
      },
      query,
    );
  }

  async function* linesOf(workspaceId: string, since?: number): AsyncGenerator<string, void> {
    for await (const rows of readRows(store.in(workspaceId).audit, since)) yield rows.map(exportLine).join("");
  }
}

function toRead({ at, actorUserId, credential, targetId, details }: AuditRecord): AuditRead {
  const { client, kbIds, answers, repeats } = details;
  return {
    at: isoOf(at),
    // The query is limited to one person.
    userId: actorUserId ?? "",
    credential,
    client: typeof client === "string" ? client : null,
    tool: targetId,
    kbIds: Array.isArray(kbIds) ? kbIds.map(String) : [],
    // Older rows, with one response each, have neither of the two.
    answers: typeof answers === "number" ? answers : 1,
    repeats: typeof repeats === "number" ? repeats : 0,
  };
}
