/**
 * What permissions cost at the size of a large company: a person's principals among a million memberships, what they see
 * among 200,000 accesses, groups as a source tells them whole, accesses that are all different, and changes of access over
 * thousands of files. All times are the processor's.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Principal, SourceAccess } from "#core/principals.ts";
import { makeVisibleCache } from "#storage/policy/visible.ts";
import { makeGroupPages } from "#storage/batch/group-pages.ts";
import { makeInterner } from "#storage/batch/intern.ts";
import type { ItemOp, PreparedItem } from "#storage/item-batch.ts";
import type { PeopleEvent, PeopleReporter } from "#storage/people-batch.ts";
import { type Database, openDatabase } from "#storage/database/db.ts";
import { openWriter } from "#storage/sqlite.ts";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { makeStore, type WorkspaceStore } from "#storage/records/store.ts";
import { inTransaction } from "#storage/transaction.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { facts } from "../storage/facts.ts";

const WORKSPACE = "wsp_bench";
const CONNECTOR = "con_benchbenchbenchb";
const PERSON = "usr_benchbenchbenchb";
const MEMBER = "usr_membermembermemb";
const MANY_GROUPS = 100_000;
/** Groups that one batch tells: the most that a run stores at once. */
const PER_BATCH = 500;
/** Accesses of one batch of items. */
const PER_SLICE = 500;
const ROUNDS = 15;
/** Over all groups, none of which changed. */
const PASSES = 5;

type Report = (name: string, value: unknown) => void;

export interface AccessBenchOptions {
  groups: number;
  membersPerGroup: number;
  accesses: number;
  /** Files whose access changes, and as many in a folder that has one for all. */
  files: number;
  report: Report;
}

/** Runs all phases in a database of its own. */
export async function benchAccess(options: AccessBenchOptions): Promise<void> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-bench-access-")));
  const file = join(dir, "kb.db");
  const database = await openDatabase({ file });
  try {
    await addConnector(database);
    const workspace = makeStore(database).in(WORKSPACE);
    await benchGroups(workspace, options);
    await benchExpand(workspace, options);
    const aclIds = benchIntern(file, options);
    await benchVisible(workspace, aclIds, options.report);
    await benchChanges(database, workspace, options);
    await benchManyGroups(file, workspace, options.report);
  } finally {
    await database.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const groupName = (n: number): Principal => `group:${CONNECTOR}:team-${n}`;
const userName = (n: number): Principal => `user:github:api.github.com:${n}`;

async function benchGroups(workspace: WorkspaceStore, { groups, membersPerGroup, report }: AccessBenchOptions) {
  const members = Array.from({ length: groups }, (_, n) =>
    Array.from({ length: membersPerGroup }, (_unused, m) => userName((n * 7_919 + m * 104_729) % 100_000)),
  );
  const first = await timeAsync(() => tellGroups(workspace, "run 1", members));
  report(`${groups * membersPerGroup} memberships in ${groups} groups, first s`, round(first / 1_000));
  const again: number[] = [];
  for (let n = 0; n < PASSES; n++) again.push(await timeAsync(() => tellGroups(workspace, `unchanged ${n}`, members)));
  report("the same, unchanged, first and p50 ms", [round(again[0] ?? 0), median(again)]);
  const large = Array.from({ length: 100_000 }, (_, n) => userName(n));
  for (const what of ["first", "unchanged", "one gone"]) {
    const those = what === "one gone" ? large.slice(1) : large;
    const took = await timeAsync(() => tell(workspace, "large", [whole("large", those)]));
    report(`one group of 100000, ${what} ms`, round(took));
  }
}

/** A person in 500 of the groups, one of them directly and by a user of the source. */
async function benchExpand(workspace: WorkspaceStore, { groups, report }: AccessBenchOptions) {
  const user = userName(10_000_000);
  await joinMember(workspace, user, PERSON);
  for (let n = 0; n < 500; n++) {
    await workspace.access.changeMembers(groupName(n % groups), { add: [user], remove: [] }, CONNECTOR);
  }
  const believing = { now: Date.now(), maxAclAgeMs: 86_400_000 };
  const principals = [`user:${PERSON}`, "workspace"] as const;
  const reached = await workspace.access.expandAt(principals, believing);
  if (reached.principals.length !== 503) throw new Error(`reached ${reached.principals.length} principals`);
  const times: number[] = [];
  for (let n = 0; n < ROUNDS; n++) times.push(await timeAsync(() => workspace.access.expandAt(principals, believing)));
  report("expand of a person in 500 groups p50/max ms", [median(times), round(Math.max(...times))]);
}

function benchIntern(file: string, { accesses, report }: AccessBenchOptions): number[] {
  const connection = openWriter(file, "normal");
  const all = (from: number) =>
    Array.from({ length: Math.min(PER_SLICE, accesses - from) }, (_, i) => ({
      known: true as const,
      all: [[groupName((from + i) % 1_000), userName(from + i), userName(from + i + 7)]],
    }));
  const aclIds: number[] = [];
  const run = () => {
    for (let from = 0; from < accesses; from += PER_SLICE) {
      inTransaction(connection.raw, () => {
        const interner = makeInterner(connection, WORKSPACE);
        for (const access of all(from)) aclIds.push(interner.access(access, [`group:connector:${CONNECTOR}`]));
        interner.save();
      });
    }
  };
  try {
    const [first, again] = [time(run), time(run)];
    report(`${accesses} different accesses interned, first and again s`, [round(first / 1_000), round(again / 1_000)]);
  } finally {
    connection.close();
  }
  return aclIds.slice(0, accesses);
}

async function benchVisible({ access }: WorkspaceStore, aclIds: readonly number[], report: Report) {
  const cache = makeVisibleCache();
  const others = Array.from({ length: 500 }, (_, n) => groupName(20_000 + n));
  const base = [`group:connector:${CONNECTOR}`, ...others, ...Array.from({ length: 100 }, (_, n) => groupName(n))];
  const ask = (principals: readonly string[]) => timeAsync(() => cache.of(access, [...principals].sort()));
  report(`visible among ${aclIds.length} accesses, first of the workspace ms`, round(await ask(base)));
  report("the same for someone else ms", round(await ask([...base.slice(0, 400), groupName(900)])));
  const [joins, leaves]: [number[], number[]] = [[], []];
  for (let n = 0; n < ROUNDS; n++) {
    joins.push(await ask([...base, groupName(200 + n)]));
    leaves.push(await ask(base.filter((name) => name !== groupName(n))));
  }
  report("after joining one group p50/max ms", [median(joins), round(Math.max(...joins))]);
  report("after leaving one group p50/max ms", [median(leaves), round(Math.max(...leaves))]);
}

/** A permission-only change told for each of many files, and one of the folder that as many others are in. */
async function benchChanges(database: Database, { itemWrites }: WorkspaceStore, { files, report }: AccessBenchOptions) {
  const names = Array.from({ length: files }, (_, n) => n);
  const apply = async (ops: readonly ItemOp[]): Promise<number> => {
    let longest = 0;
    for (let from = 0; from < ops.length; from += PER_SLICE) {
      const always = [`group:connector:${CONNECTOR}`] as const;
      const of = { connectorId: CONNECTOR, always, highest: 0, now: Date.now() };
      const slice = { ...of, ops: ops.slice(from, from + PER_SLICE) };
      longest = Math.max(longest, await timeAsync(() => itemWrites.applyBatch(slice)));
    }
    return longest;
  };
  const openTo = (n: number) => ({ known: true as const, all: [[groupName(n % 1_000), userName(n), userName(n + 7)]] });
  await apply([file("folder", null, openTo(0)), ...names.map((n) => file(`in/${n}`, "folder", null))]);
  await apply(names.map((n) => file(`on/${n}`, null, openTo(n))));
  const change = (n: number, to: number): ItemOp => ({ type: "access", externalId: `on/${n}`, access: openTo(to) });
  const each = await timeAsync(() => apply(names.map((n) => change(n, n + 1_000_000))));
  report(`access of each of ${files} files changed, all different s`, round(each / 1_000));
  const same = await timeAsync(() => apply(names.map((n) => change(n, 3))));
  report(`access of each of ${files} files changed to the same s`, round(same / 1_000));

  const withheld = () => database.read.selectFrom("withheld_items").select("kbId").limit(1).execute();
  let longest = 0;
  const folder = await timeAsync(async () => {
    longest = await apply([{ type: "access", externalId: "folder", access: openTo(5) }]);
    while ((await withheld()).length > 0) await database.writer.call("settleWithheld", {});
  });
  const times = [folder / 1_000, longest / 1_000].map(round);
  report(`access of the folder of ${files} files changed, until all are readable, of it the first batch s`, times);
}

/** Joins a user of the source to a member, as the member's own account tells it. */
async function joinMember({ identities }: WorkspaceStore, principal: Principal, userId: string) {
  const at = Date.now();
  await identities.reportByAccount({ accountId: CONNECTOR, principal, name: null, login: null, toldAt: at });
  await identities.join({
    principal,
    userId,
    connectorId: CONNECTOR,
    basis: "account",
    joinedBy: null,
    joinedAt: at,
  });
}

/** Somebody in 100,000 groups joins one more, then leaves it: their next search finds its item, then finds it no longer. */
async function benchManyGroups(path: string, workspace: WorkspaceStore, report: Report) {
  const user = userName(20_000_000);
  await joinMember(workspace, user, MEMBER);
  const pages = makeGroupPages();
  for (let from = 0; from < MANY_GROUPS; from += PER_BATCH) {
    const events = Array.from({ length: PER_BATCH }, (_, n) => whole(`solo-${from + n}`, [user], pages));
    await tell(workspace, "many", events);
  }
  await tell(workspace, "one more", [whole("new", [userName(1)])]);
  const inNew: Principal = `group:${CONNECTOR}:new`;
  const at = Date.now();
  const ops = [file("released", null, { known: true, all: [[inNew]] })];
  const always = [`group:connector:${CONNECTOR}`] as const;
  await workspace.itemWrites.applyBatch({ connectorId: CONNECTOR, always, highest: 0, now: at, ops });
  const pool = makeSearchPool({ file: path, size: 0 });
  const search = async () => {
    const believing = { now: at, maxAclAgeMs: 86_400_000 };
    const reached = await workspace.access.expandAt([`user:${MEMBER}`, "workspace"], believing);
    const principals = [...reached.principals, `group:connector:${CONNECTOR}`].sort();
    return pool.search({
      workspaceId: WORKSPACE,
      viewer: { principals, epoch: 0 },
      query: "released",
      filters: {},
      order: "relevance",
      limit: 10,
    });
  };
  const expect = async (total: number) => {
    const found = await search();
    if (found.total !== total) throw new Error(`found ${found.total} items, not ${total}`);
  };
  const first = await timeAsync(() => expect(0));
  const again = await timeAsync(() => expect(0));
  await workspace.access.changeMembers(inNew, { add: [user], remove: [] }, CONNECTOR);
  const joined = await timeAsync(() => expect(1));
  await workspace.access.changeMembers(inNew, { add: [], remove: [user] }, CONNECTOR);
  const left = await timeAsync(() => expect(0));
  await pool.close();
  const times = [first, again, joined, left].map(round);
  report(`search of a person in ${MANY_GROUPS} groups: first, again, after joining one, after leaving it ms`, times);
}

function file(externalId: string, parent: string | null, access: SourceAccess | null): ItemOp {
  const text = `A note about ${externalId}, which someone wrote.`;
  const item: PreparedItem = {
    newKbId: `kbi_${externalId.replace(/[^a-z0-9]/gu, "").padStart(16, "0")}`,
    externalId,
    parentExternalId: parent,
    identityHint: null,
    providerId: "github",
    source: "github:acme/notes",
    ...facts({ kind: "file", title: externalId }),
    url: null,
    lineAnchor: null,
    version: "1",
    entities: [],
    access,
    text: {
      state: "text",
      text,
      textHash: text,
      sections: [],
      analyzed: analyzeDocument({ title: externalId, path: [], labels: [], text }),
    },
    maskedSecrets: 0,
    indexHash: externalId,
  };
  return { type: "upsert", item };
}

async function tellGroups(workspace: WorkspaceStore, runId: string, members: readonly (readonly Principal[])[]) {
  const pages = makeGroupPages();
  for (let from = 0; from < members.length; from += PER_BATCH) {
    const events = members.slice(from, from + PER_BATCH).map((those, i) => whole(`team-${from + i}`, those, pages));
    await tell(workspace, runId, events);
  }
}

/** A group of one page; a run puts the pages of all its groups together in one place. */
function whole(id: string, members: readonly Principal[], pages = makeGroupPages()): PeopleEvent {
  const event = pages.add({ group: `group:${CONNECTOR}:${id}`, members, hasMore: false, at: Date.now() });
  if (!event) throw new Error("A page without another one is the group.");
  return event;
}

async function tell({ sourcePeople }: WorkspaceStore, runId: string, events: readonly PeopleEvent[]) {
  const now = Date.now();
  const base = { connectorId: CONNECTOR, toldIn: "identities", isTrusted: true, mode: "groups" } as const;
  const teller: PeopleReporter = { ...base, runId, now, maxAclAgeMs: 86_400_000 };
  const { position } = await sourcePeople.begin(teller);
  await sourcePeople.apply({ ...teller, since: position, events });
}

async function addConnector({ write }: Database) {
  const now = Date.now();
  await write
    .insertInto("workspaces")
    .values({ workspaceId: WORKSPACE, name: "Bench", timeZone: "UTC", createdAt: now })
    .execute();
  await write
    .insertInto("connectors")
    .values({
      workspaceId: WORKSPACE,
      connectorId: CONNECTOR,
      providerId: "github",
      name: "Bench",
      ownerUserId: PERSON,
      visibility: "workspace",
      memberIds: "[]",
      groupIds: "[]",
      config: "{}",
      scope: '{"include":[],"exclude":[]}',
      scopeVersion: 1,
      accountId: null,
      connectionId: null,
      everyMinutes: null,
      state: "active",
      stateReason: null,
      nextRunAt: null,
      cursor: null,
      consecutiveFailures: 0,
      aclCheckedAt: null,
      lastFullAt: null,
      createdAt: now,
      ownedSince: 0,
      createdBy: PERSON,
    })
    .execute();
}

/** Milliseconds of the processor: all of it runs in this thread, and other programs may have the cores. */
async function timeAsync(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return millisecondsSince(before);
}

function time(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return millisecondsSince(before);
}

function millisecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function median(values: readonly number[]): number {
  return round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
