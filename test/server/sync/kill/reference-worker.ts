import { runSessions } from "#server/sync/run/run-session.ts";
import { scripted } from "../../../scripted.ts";
import { inMemory, makeSyncBytes } from "../../../spool.ts";
import { setTimeout as wait } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import type { Extractor } from "#extract/extractor.ts";
import { makeAddressGuard } from "#net/address-guard.ts";
import { withoutUnknownPeople, findInstance, loadAuthority } from "#server/connectors/authority.ts";
import { makePeopleLinks } from "#server/connectors/people-links.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { makeSyncWorker } from "#server/sync/worker/worker.ts";
import type { SyncContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import { makeSourceHttpPool } from "#sources/http/pool.ts";
import { openDatabase } from "#storage/database/db.ts";
import type { SyncMode } from "#storage/records/syncs.ts";
import { makeStore } from "#storage/records/store.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import type { ReferenceConfig } from "../../../kit/reference/client.ts";
import { principalsOf } from "#sources/principals.ts";
import type { ReferenceKept } from "../../../kit/faults/plant.ts";
import { makeReferenceSource } from "../../../kit/reference/source.ts";

export const KILL_WORKSPACE = "wsp_2222222222222222";
export const KILL_CONNECTOR = "con_2222222222222222";

/** What is to be done: the runs that somebody asks for, before any is begun, and what else is in the queue. */
export interface Task {
  now: number;
  runs: ("identities" | SyncMode)[];
}

const NEVER_MS = 1e11;

/** Passing with each look at it, so that a run stores what it has a few times on its way. */
const STEP_MS = 60;

/** A worker of its own over a database file with a connector of the reference source. */
export async function openReferenceWorker(file: string, port: number, writerEntry?: string) {
  const database = await openDatabase({ file, ...(writerEntry !== undefined && { writerEntry }) });
  const store = makeStore(database);
  const source = makeTellingSource() as unknown as Source;
  const guard = makeAddressGuard({ privateHosts: [`127.0.0.1:${port}`], isOwn: () => false, lookup: async () => [] });
  const http = makeSourceHttpPool({ guard, now: () => Date.now() });
  let clock = 0;
  const now = () => (clock += STEP_MS);
  const standing = { credentials: { token: "kb-canary-7d20e5" } };
  const links = makePeopleLinks({
    store,
    sources: { find: async () => source, list: async () => [source] },
    credentials: { isAdminMade: async () => true } as never,
    audit: { recordSystem: async () => undefined } as never,
    clock: { now },
    instances: [],
  });
  const worker = makeSyncWorker({
    store,
    findSource: () => source,
    extractor: PLAIN,
    analyze: analyzeDocument,
    async loadAuthority(workspaceId, of, connector) {
      const workspace = store.in(workspaceId);
      return loadAuthority(workspace, of, connector, await findInstance(workspace, of, connector, []));
    },
    withoutUnknownPeople,
    people: links,
    credentialsOf: async () => standing,
    keepsSecrets: async () => false,
    ...makeSyncBytes(),
    http,
    now,
    randomBytes,
    sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
    log: { debug() {}, info() {}, warn() {}, error: complain },
    concurrency: 1,
    parallel: 2,
  });

  return {
    database,
    store,
    async work({ now: from, runs }: Task): Promise<void> {
      clock = from;
      // Kills take time, in which more would be due: only what is asked for is compared.
      await database.write
        .updateTable("identity_schedules")
        .set({ nextRunAt: from + NEVER_MS })
        .execute();
      for (const mode of runs) {
        await store.transaction(async (tx) => {
          const connector = await tx.in(KILL_WORKSPACE).connectors.find(KILL_CONNECTOR);
          if (!connector) throw new Error("The connector is gone.");
          const wish = { trigger: "manual" as const, now: now(), randomBytes };
          if (mode === "identities") await requestIdentities(tx, KILL_WORKSPACE, connector, wish);
          else await requestSync(tx, KILL_WORKSPACE, connector, { ...wish, mode });
        });
      }
      await worker.runUntilIdle();
    },
    async close(): Promise<void> {
      http.close();
      await database.close();
    },
  };
}

/**
 * The reference source, that says each thing a source can: with each space that was listed, that it was, who is in a group
 * found there, that this group alone reads one of its pages, and what it keeps besides its cursor.
 */
function makeTellingSource() {
  const source = makeReferenceSource();
  const runs = runSessions(source.sessions);
  async function* sync(ctx: SyncContext<ReferenceConfig>, run: SyncRequest): AsyncGenerator<SyncEvent, void> {
    const cursor = run.cursor as ReferenceKept | null;
    let space = cursor?.walk?.runId === run.runId ? cursor?.walk?.checkpoint.open?.id : undefined;
    for await (const event of runs(ctx, run)) {
      if (event.t === "checkpoint") {
        const { walk, feed } = event.cursor as ReferenceKept;
        const next = walk?.checkpoint.open?.id;
        if (space !== undefined && next !== space) yield* listed(ctx, space);
        space = next;
        ctx.state.put("at", walk ? { space } : { since: feed?.since });
      }
      yield event;
    }
  }

  async function* listed(ctx: SyncContext<ReferenceConfig>, space: string): AsyncGenerator<SyncEvent, void> {
    const principals = principalsOf(ctx, "reference");
    const group = principals.group(`restricted:${space}`);
    const container = { type: "space" as const, id: space };
    const members = ["u1", "u2"].map((id) => principals.user(id));
    yield { t: "group", group, members, containers: [container] };
    const access = { known: true as const, all: [[principals.group(`space:${space}`)], [group]] };
    yield { t: "access", externalId: `${space}-restricted`, access };
    yield { t: "listed", container };
  }

  return { ...source, sessions: scripted<ReferenceConfig>(sync as never) };
}

/** Bytes are text. */
const PLAIN: Pick<Extractor, "extract"> = {
  async extract({ bytes, title, path, labels }) {
    const text = new TextDecoder().decode(inMemory(bytes));
    const analyzed = analyzeDocument({ title, path, labels, text });
    const read = { state: "ok", text, mimeType: "text/plain", reader: "text/plain" } as const;
    return { ...read, sections: [], properties: {}, maskedSecrets: 0, analyzed };
  },
};

function complain(fields: Record<string, unknown>, message: string): void {
  const text = (key: string, value: unknown) => (key === "error" && value instanceof Error ? value.stack : value);
  process.stderr.write(`${message} ${JSON.stringify(fields, text)}\n`);
}
