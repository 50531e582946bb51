import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { findPackageRoot } from "#core/spawn.ts";
import { startReferenceWorld } from "../../../kit/reference/fixture.ts";
import { makeConnector } from "../harness.ts";
import { KILL_CONNECTOR, KILL_WORKSPACE, openReferenceWorker, type Task } from "./reference-worker.ts";

/** When the process is killed: with this request since it lives, or since the kill before, and so long after it. */
export interface KillAt {
  requests: number;
  delayMs?: number;
}

export interface ReferenceOptions {
  file: string;
  /** The kills of each of the four passes; without them everything is done here. `hasThread`: the writer is in its own. */
  kills?: { program: readonly string[]; passes: readonly (readonly KillAt[])[]; hasThread?: boolean };
  atEnd?(end: () => void): void;
}

export interface ReferenceEnd {
  /** What is stored, without what is drawn by chance and the times. */
  rows: Record<string, string[]>;
  /** In order, with how they ended and what they counted. */
  runs: string[];
  /** Kills that met work that was going on. */
  hits: number;
  /** Requests of each pass. */
  requests: number[];
}

type Provider = Awaited<ReturnType<typeof startReferenceWorld>>;
type Child = ChildProcessByStdio<Writable, Readable, null>;

const HOUR_MS = 3_600_000;
const START = 1_800_000_000_000;
/** Beyond the lease of a process that was killed; four of them end before people are due to be read again. */
const AFTER_KILL_MS = 35_000;

/** What happens at the provider before each pass, what is asked for then, and how much later that is. */
const PASSES: { change(provider: Provider): void; runs: Task["runs"]; afterMs: number }[] = [
  {
    change(provider) {
      provider.putSpace("e", { members: ["team:outer"] });
      for (let i = 0; i < 12; i++) provider.putPage(`a${i}`, { space: "a", text: `Words of a${i} in the river.` });
      for (let i = 0; i < 8; i++) provider.putPage(`e${i}`, { space: "e", text: `Words of e${i} at the ledger.` });
      for (const space of ["a", "b", "e"]) provider.putPage(`${space}-restricted`, { space });
    },
    runs: ["identities", "full"],
    afterMs: 0,
  },
  {
    // Each change that the feed of pages or that of people tells.
    change(provider) {
      for (let i = 0; i < 6; i++) provider.putPage(`n${i}`, { space: "b", text: `New words of n${i}.` });
      provider.putPage("p2", { text: "Edited." });
      provider.removePage("p3");
      provider.movePage("p4", "b");
      provider.movePage("p7", "a");
      provider.renamePage("p6");
      provider.setMembers("space:b", ["u2", "u3"]);
      provider.removeGroup("team:inner");
      provider.putUser("u4", "suspended");
      provider.putSpace("c", { members: ["u1"] });
      provider.putUser("u6");
    },
    runs: ["identities", "incremental"],
    afterMs: HOUR_MS,
  },
  {
    // What only a listing of everything tells: the feeds have forgotten.
    change(provider) {
      provider.removePage("a3");
      provider.removeSpace("e");
      provider.movePage("p7", "b");
      provider.putPage("a5", { text: "Edited too." });
      provider.removeUser("u1");
      provider.forgetChanges();
    },
    runs: ["identities", "full"],
    afterMs: HOUR_MS,
  },
  {
    // Later than the age at which everything about people is to be read whole again.
    change(provider) {
      provider.setMembers("team:outer", ["u3", "u6"]);
      provider.putPage("a6", { text: "Edited at last." });
    },
    runs: ["identities", "incremental"],
    afterMs: 13 * HOUR_MS,
  },
];

/**
 * Syncs the reference source over four passes, between which its provider changes, killing the worker's process (SIGKILL)
 * at each of these moments. The text of one page changes between its listing and its reading, once.
 */
export async function syncReference({ file, kills, atEnd }: ReferenceOptions): Promise<ReferenceEnd> {
  let onRequest: () => void = () => undefined;
  let isEdited = false;
  const provider: Provider = await startReferenceWorld({
    pageSize: 4,
    ...(atEnd && { atEnd }),
    before(path) {
      onRequest();
      if (isEdited || path !== "/pages/p2/text" || provider.pages.get("p2")?.text !== "Edited.") return;
      isEdited = true;
      provider.putPage("p2", { text: "Edited while it was read." });
    },
  });
  const { port } = new URL(provider.origin);
  await prepare(file, Number(port), provider.origin);
  const here = kills ? undefined : await openReferenceWorker(file, Number(port));
  const begin = () => kills && start([...kills.program, file, port, ...(kills.hasThread ? ["thread"] : [])]);
  let child = begin();
  let now = START;
  let hits = 0;
  const requests: number[] = [];
  for (const [at, { change, runs, afterMs }] of PASSES.entries()) {
    change(provider);
    now += afterMs;
    const before = provider.requests();
    let task: Task = { now, runs };
    const moments = [...(kills?.passes[at] ?? [])];
    for (;;) {
      const moment = moments.shift();
      if (moment && child) onRequest = killAt(child, moment);
      const isDone = child ? await perform(child, task) : await here?.work(task).then(() => true);
      onRequest = () => undefined;
      if (isDone || !kills) break;
      hits++;
      now += AFTER_KILL_MS;
      // What was asked for is in the queue: nothing is asked of the provider before.
      task = { now, runs: [] };
      child = begin();
    }
    requests.push(provider.requests() - before);
  }
  await here?.close();
  if (child) await end(child);
  return { ...readEnd(file, port), hits, requests };
}

function start(args: readonly string[]): Child {
  return spawn(process.execPath, args, { cwd: findPackageRoot(), stdio: ["pipe", "pipe", "inherit"] });
}

/** True when the child did the task; false when it died before. */
async function perform(child: Child, task: Task): Promise<boolean> {
  const lines = createInterface({ input: child.stdout });
  try {
    return await new Promise<boolean>((resolve, reject) => {
      lines.once("line", () => resolve(true));
      child.once("exit", (code) =>
        code === null ? resolve(false) : reject(new Error(`The child ended with ${code}.`)),
      );
      child.stdin.on("error", () => undefined);
      child.stdin.write(`${JSON.stringify(task)}\n`);
    });
  } finally {
    lines.close();
  }
}

async function end(child: Child): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await ended;
}

function killAt(child: Child, { requests, delayMs = 0 }: KillAt): () => void {
  let left = requests;
  return () => {
    if (--left !== 0) return;
    if (delayMs === 0) child.kill("SIGKILL");
    else void wait(delayMs).then(() => child.kill("SIGKILL"));
  };
}

/** A workspace with members whose addresses say who they are at the provider, and the connector. */
async function prepare(file: string, port: number, url: string): Promise<void> {
  const { database, store, close } = await openReferenceWorker(file, port);
  const workspace = { workspaceId: KILL_WORKSPACE, name: "Acme", timeZone: "UTC", createdAt: START };
  await database.write
    .insertInto("workspaces")
    .values({ ...workspace, identityDomains: JSON.stringify(["acme.test"]) })
    .execute();
  for (const id of ["u1", "u2", "u3", "u4", "u6"]) {
    const userId = `usr_${id.repeat(8)}`;
    const email = `${id}@acme.test`;
    const user = { userId, email, emailKey: email, name: id, passwordHash: null, emailVerifiedAt: START };
    await database.write
      .insertInto("users")
      .values({ ...user, timeZone: null, createdAt: START })
      .execute();
    await store.in(KILL_WORKSPACE).members.insert({ userId, role: "member", joinedAt: START });
  }
  const instance = { workspaceId: KILL_WORKSPACE, providerId: "reference", baseUrl: url };
  await database.write
    .insertInto("instances")
    .values({ ...instance, registeredBy: "usr_2222222222222222", registeredAt: START })
    .execute();
  await store
    .in(KILL_WORKSPACE)
    .connectors.create(makeConnector(START, { connectorId: KILL_CONNECTOR, providerId: "reference", config: { url } }));
  await close();
}

function read<T>(file: string, ask: (rows: (sql: string) => Record<string, unknown>[]) => T): T {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    return ask((sql) => db.prepare(sql).all() as Record<string, unknown>[]);
  } finally {
    db.close();
  }
}

const ACCESS = (column: string) => `(select group_concat(principals, ' & ') from (
  select l.principals from accesses a, access_lists l, json_each('[' || a.listIds || ']') j
  where a.aclId = i.${column} and l.listId = j.value order by l.principals)) as ${column}`;

/** Of each kind of row what does not depend on chance and time; that something has a clock of its own counts. */
const ROWS = {
  items: `select externalId, parentExternalId, replyTo, version, contentRef, title, textHash, indexState, textReason,
    ownClockCause, ownClockAt is not null as hasClock, removedAt is not null as isRemoved, ${ACCESS("aclId")}, ${ACCESS("ownAclId")}
    from items i`,
  texts: "select i.externalId, t.chunk, t.text from item_texts t join items i on i.kbId = t.kbId",
  entities: `select i.externalId, e.entityId, e.role, e.name, e.isHome from item_entities e join items i on i.kbId = e.kbId`,
  memberships: "select groupPrincipal, memberPrincipal, reportedBy from memberships",
  groups:
    "select groupPrincipal, toldIn, followsFeed, members, digest is not null as hasDigest, etag, toldPosition from source_groups",
  homes: "select entityId, groupPrincipal from group_homes",
  identities:
    "select principal, toldIn, state, name, login, email, isEmailVerified, isTrusted, followsFeed from identities",
  joins: "select principal, userId, basis, endedAt is not null as isEnded, endReason from identity_joins",
  feeds: "select toldIn, position, cursor, currentAt is not null as isCurrent, runId, runCursor from people_feeds",
  connectors:
    "select state, stateReason, cursor, consecutiveFailures, aclCheckedAt is not null as isChecked from connectors",
  state: "select key, value from source_state",
  relisted: "select externalId from relist_items",
  held: "select kbId from removals",
  withheld: "select kbId from withheld_items",
  jobs: "select type, dedupeKey from jobs where leaseOwner is not null",
};

function readEnd(file: string, port: string): Pick<ReferenceEnd, "rows" | "runs"> {
  // A time in a principal is the clock of an access; the provider's port and the ids of runs are chance.
  // Inside a hash the digits of the port are only digits.
  const portAlone = new RegExp(`(?<![0-9a-f])${port}(?![0-9a-f])`, "g");
  const plain = (row: Record<string, unknown>) =>
    JSON.stringify(row)
      .replace(portAlone, "PORT")
      .replace(/\b18\d{11}\b/g, "TIME")
      .replace(/syn_[a-z0-9]+/g, "RUN");
  return read(file, (rows) => ({
    rows: Object.fromEntries(Object.entries(ROWS).map(([name, sql]) => [name, rows(sql).map(plain).sort()])),
    runs: rows("select mode, trigger, state, counts from syncs order by createdAt, rowid").map(plain),
  }));
}
