import { createHash } from "node:crypto";
import type { Source } from "#sources/contract.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { scripted } from "../../scripted.ts";
import { type Harness, makeConnector, makeHarness, type Script, WORKSPACE } from "./harness.ts";

export type Kind = "small" | "endless" | "failing" | "limited";

/** Connectors of these kinds in one workspace, whose sources take their time by the clock of the test. */
export async function makeMany(kinds: readonly Kind[], script: (kb: Harness, kind: Kind, id: string) => Script) {
  const sources = new Map<string, Source>();
  const kb: Harness = await makeHarness(() => [], { findSource: (providerId) => sources.get(providerId) });
  const letter = (i: number) => "abcdefgh"[i % 8] ?? "";
  const ids = kinds.map((_, i) => `con_33333333333333${letter(Math.floor(i / 8))}${letter(i)}`);
  for (const [i, kind] of kinds.entries()) {
    const connectorId = ids[i] ?? "";
    const providerId = `fake-${i}`;
    const said = script(kb, kind, connectorId);
    sources.set(providerId, {
      ...kb.source,
      sessions: scripted(async function* (ctx, run) {
        yield* said({ ...run, stored: ctx.stored, state: ctx.state }, ctx.signal);
      }),
    });
    const connector = makeConnector(kb.clock.now, { connectorId, providerId, name: `${kind} ${i}` });
    await kb.store.in(WORKSPACE).connectors.create(connector);
    const wish = { trigger: "schedule", mode: "full", now: kb.clock.now + i, randomBytes: bytesOf(i) } as const;
    await kb.store.transaction((tx) => requestSync(tx, WORKSPACE, connector, wish));
  }
  kb.clock.now += kinds.length;
  return { kb, ids };
}

const bytesOf = (i: number) => (count: number) => createHash("sha256").update(`${i}`).digest().subarray(0, count);

/** When the last run of each connector ended, in seconds, and how. */
export async function endsOf(kb: Harness, ids: readonly string[], from: number) {
  const { syncs } = kb.store.in(WORKSPACE);
  const found = await Promise.all(ids.map(async (id) => (await syncs.list(id, 1))[0]));
  return found.map((sync) => ({ state: sync?.state, seconds: Math.round(((sync?.finishedAt ?? 0) - from) / 1_000) }));
}

/** Seconds of the clock that one step of a source takes. */
export function* slowly(kb: Harness, seconds: number, events: readonly SyncEvent[]): Generator<SyncEvent> {
  kb.clock.now += seconds * 1_000;
  yield* events;
}
