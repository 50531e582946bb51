import { sql } from "kysely";
import { describe, test } from "vitest";
import { isoOf } from "#core/instant.ts";
import { makeReadRecorder } from "#server/identity/audit/reads.ts";
import { makeSeenItems } from "#server/identity/audit/seen-items.ts";
import { makeAuditService } from "#server/identity/audit/service.ts";
import { makeCursorCodec } from "#server/http/cursor.ts";
import type { Actor } from "#storage/access/actor.ts";
import { makeRandom } from "../../../extract/mutations.ts";
import { makeTestClock, makeTestLog, openTestStore, TEST_NOW } from "../../../helpers.ts";

const PLACES = [
  { type: "tool", name: "kb_search" },
  { type: "tool", name: "kb_get_file_content" },
  { type: "route", name: "GET /api/connectors/search" },
] as const;
const MINUTE = 60_000;
/** Like real ones: every byte of an id counts. */
const itemId = (n: number) => `kbi_${String(n).padStart(16, "k")}`;
const dayOf = (at: string) => at.slice(0, 10);

function makeActor(credential: number, ip = "203.0.113.7", client = "claude-code/2.1"): Actor {
  return {
    workspaceId: "wsp_2222222222222222",
    userId: "usr_2222222222222222",
    role: "owner",
    scopes: ["kb:admin", "kb:api", "mcp:read"],
    credential: { type: "pat", id: `tok_${String(credential).padStart(16, "2")}` },
    timeZone: "UTC",
    origin: { requestId: "req_2222222222222222", clientIp: ip, client },
  };
}

async function makeAudit() {
  const { store, database } = await openTestStore();
  const clock = makeTestClock();
  const { workspaceId } = makeActor(0);
  await store.workspaces.insert({ workspaceId, name: "Acme", timeZone: "UTC", createdAt: TEST_NOW });
  const cursors = makeCursorCodec(new Uint8Array(32), clock);
  let timers: { at: number; run: () => void }[] = [];
  const schedule = (run: () => void, ms: number) => void timers.push({ at: clock.now() + ms, run });
  const start = () => makeAuditService({ store, clock, cursors, log: makeTestLog(), schedule });
  /** What a process does by itself until now, and all of it when told so. */
  const pass = async (isAll = false) => {
    const due = timers.filter(({ at }) => isAll || at <= clock.now());
    timers = timers.filter((timer) => !due.includes(timer));
    due.forEach(({ run }) => run());
    if (due.length > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const reader = start();
  const readAll = async () => {
    const reads = [];
    for (let cursor: string | undefined; ;) {
      const call = { actor: makeActor(0), query: { limit: 200, ...(cursor !== undefined && { cursor }) } };
      // The handler reads nothing else of a call.
      const page = await reader.reads(call as Parameters<typeof reader.reads>[0]);
      reads.push(...page.reads);
      if (page.nextCursor === null) return reads;
      cursor = page.nextCursor;
    }
  };
  return {
    clock,
    database,
    start,
    pass,
    readAll,
    check: () => reader.check({ actor: makeActor(0) } as Parameters<typeof reader.check>[0]),
  };
}

/** Sums by credential and day. */
class Sums {
  readonly items: Record<string, string[]> = {};
  readonly answers: Record<string, number> = {};
  readonly shown: Record<string, number> = {};

  add({ credential, at }: { credential: string; at: string }, kbIds: readonly string[], answers = 1, repeats = 0) {
    const key = `${credential} ${dayOf(at)}`;
    this.items[key] = [...new Set([...(this.items[key] ?? []), ...kbIds])].toSorted();
    this.answers[key] = (this.answers[key] ?? 0) + answers;
    this.shown[key] = (this.shown[key] ?? 0) + kbIds.length + repeats;
  }
}

/** Random answers over three days and four credentials; `between` comes now and then and gives the service to go on with. */
async function play(seed: number, between: "flush" | "restart" | "kill") {
  const audit = await makeAudit();
  const random = makeRandom(seed);
  const upTo = (n: number) => Math.floor(random() * n);
  const shown = new Sums();
  let service = audit.start();
  for (let n = 0; n < 700; n++) {
    audit.clock.advance(upTo(12 * MINUTE));
    const actor = makeActor(upTo(4), `203.0.${upTo(2)}.7`, `client ${upTo(2)}`);
    const kbIds = Array.from({ length: 1 + upTo(10) }, () => itemId(upTo(60)));
    service.recordReads(actor, PLACES[upTo(3)] ?? PLACES[0], kbIds);
    shown.add({ credential: `pat:${actor.credential.id}`, at: isoOf(audit.clock.now()) }, [...new Set(kbIds)]);
    if (upTo(20) > 0) continue;
    if (between === "kill") {
      // The second after the answer has passed: what waits for longer is lost.
      await audit.pass(upTo(2) === 0);
    } else await service.flush();
    if (between !== "flush") service = audit.start();
  }
  await service.flush();
  const reads = await audit.readAll();
  const found = new Sums();
  for (const read of reads) found.add(read, read.kbIds, read.answers, read.repeats);
  return { audit, reads, shown, found };
}

describe("reads of a day", () => {
  test.for([1, 2, 3])(
    "say which items each credential received and how often, across restarts (%i)",
    async (seed, { expect }) => {
      const { audit, shown, found } = await play(seed, "restart");
      expect(Object.keys(shown.items).length).toBeGreaterThanOrEqual(12);
      expect(found).toEqual(shown);
      expect((await audit.check()).isIntact).toBe(true);
    },
  );

  test("name an item once for each credential, network and day, and count the rest", async ({ expect }) => {
    const { reads, shown, found } = await play(4, "flush");
    expect(found).toEqual(shown);
    const named = reads.flatMap(({ credential, at, kbIds }) => kbIds.map((id) => `${credential} ${dayOf(at)} ${id}`));
    const most = new Map<string, number>();
    for (const name of named) most.set(name, (most.get(name) ?? 0) + 1);
    // Two networks.
    expect(Math.max(...most.values())).toBe(2);
    expect(reads.filter(({ kbIds }) => kbIds.length === 0).length).toBeGreaterThan(0);
  });

  test("leave out no item when the process is killed a second after the answer", async ({ expect }) => {
    const { shown, found } = await play(5, "kill");
    expect(found.items).toEqual(shown.items);
  });

  test("name items again from midnight UTC on, and what was counted before belongs to the day before", async ({
    expect,
  }) => {
    const audit = await makeAudit();
    const service = audit.start();
    const answer = () => service.recordReads(makeActor(1), PLACES[0], [itemId(1), itemId(2)]);
    audit.clock.advance(Date.UTC(2026, 10, 21, 23, 59, 59) - TEST_NOW);
    answer();
    answer();
    audit.clock.advance(1_000);
    answer();
    await service.flush();
    const rows = (await audit.readAll()).map(({ at, kbIds, answers, repeats }) => [
      dayOf(at),
      kbIds.length,
      answers,
      repeats,
    ]);
    expect(rows.toSorted()).toEqual([
      ["2026-11-21", 2, 2, 2],
      ["2026-11-22", 2, 1, 0],
    ]);
  });

  test("refuse also what was received before while rows can't be written", ({ expect }) => {
    let room = 1;
    const reads = makeReadRecorder({
      clock: makeTestClock(),
      batcher: {
        add: () => {
          if (room-- <= 0) throw new Error("no room");
        },
        hasRoom: () => room > 0,
        taken: () => 0,
        flush: () => Promise.resolve(),
      },
    });
    const answer = () => reads.recordReads(makeActor(1), PLACES[0], [itemId(1)]);
    answer();
    expect(answer).toThrow("no room");
  });

  // 20,000 answers in 1,000 seconds over as small a part of 100,000 items as they are of a day's answers: each item
  // comes as often as in a day, and each row holds as many.
  test.for([1, 10])(
    "take at most 50 MB for 20 searches a second with %i credentials",
    async (credentials, { expect }) => {
      const perDay = (20 * 86_400) / 20_000;
      const items = Math.round(100_000 / perDay);
      const audit = await makeAudit();
      const service = audit.start();
      const random = makeRandom(6);
      const size = async () => {
        const { rows } = await sql<{ bytes: number }>`${sql.raw(PAGES)}`.execute(audit.database.read);
        return rows[0]?.bytes ?? 0;
      };
      const before = await size();
      for (let second = 0; second < 1_000; second++) {
        for (let n = 0; n < 20; n++) {
          const kbIds = Array.from({ length: 10 }, () => itemId(Math.floor(random() * items)));
          service.recordReads(makeActor(n % credentials), PLACES[0], kbIds);
        }
        audit.clock.advance(1_000);
        await audit.pass();
      }
      await service.flush();
      const bytes = ((await size()) - before) * perDay;
      expect(bytes).toBeGreaterThan(1_000_000);
      expect(bytes).toBeLessThanOrEqual(50_000_000);
      const answers = (await audit.readAll()).reduce((sum, read) => sum + read.answers, 0);
      expect(answers).toBe(20_000);
    },
  );
});

/** Rows and indexes, as they lie in the file; pages of reads that waited are used again. */
const PAGES = `select (p.page_count - f.freelist_count) * s.page_size as bytes
  from pragma_page_count p, pragma_freelist_count f, pragma_page_size s`;

describe("what a process remembers of a day", () => {
  test("is bounded by items: beyond, all are new again", ({ expect }) => {
    const seen = makeSeenItems();
    for (let n = 0; n < 200_000; n += 1_000) {
      seen.mark(
        "a",
        Array.from({ length: 1_000 }, (_, at) => itemId(n + at)),
      );
    }
    expect(seen.findNew("a", [itemId(0), itemId(199_999), itemId(200_000)])).toEqual([itemId(200_000)]);
    expect(seen.findNew("b", [itemId(0)])).toEqual([itemId(0)]);
    seen.mark("b", [itemId(200_000)]);
    // The first number is another item's now.
    expect(seen.findNew("a", [itemId(0), itemId(200_000)])).toEqual([itemId(0), itemId(200_000)]);
    expect(seen.findNew("b", [itemId(0), itemId(200_000)])).toEqual([itemId(0)]);
  });

  test("is bounded by readers: the one that was idle longest is forgotten", ({ expect }) => {
    const seen = makeSeenItems();
    for (let n = 0; n < 20_000; n++) seen.mark(`reader ${n}`, [itemId(1)]);
    expect(seen.findNew("reader 0", [itemId(1)])).toEqual([itemId(1)]);
    expect(seen.findNew("reader 19999", [itemId(1)])).toEqual([]);
  });
});
