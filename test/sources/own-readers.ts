import { runsOf } from "#server/sync/run/run-session.ts";
/**
 * Sources whose apps have no permissions that could be mirrored: `kb` itself says who reads, and the remote what there is.
 * Who sees what is asked in every way there is, of everybody, whenever the test wants it.
 */
import { scripted } from "../scripted.ts";
import { ApiError } from "#api/errors.ts";
import type { Source } from "#sources/contract.ts";
import { expect } from "vitest";
import { type ComposeOptions, composeFeatures } from "../features.ts";
import { makeServer, type TestClient, type TestServer, type TestUser } from "../helpers.ts";
import { thisMachine } from "../kit/network.ts";
import { fakeExtractor } from "../server/sync/harness.ts";

/** `reader` and `leaver` may read: as members of a group of the workspace that is one of the readers, or as the one owner. */
export const PERSONS = ["owner", "reader", "leaver", "outsider", "stranger"] as const;
export type Person = (typeof PERSONS)[number];

export interface World {
  kb: TestServer;
  userOf(person: Person): TestUser;
  as(person: Person): TestClient;
  /** A group of the workspace, with `reader` and `leaver` in it. */
  groupId: string;
}

const HOUR_MS = 3_600_000;

export interface Remote {
  source: Source;
  /** Who connects, and what they send to `POST /api/connectors`; what is left out is the usual. */
  connect(world: World): Promise<{ by?: Person; body: object }>;
  /** What there is now, as the app itself lists it: the ids of the items. */
  list(): Promise<readonly string[]>;
  openMcp?: ComposeOptions["openMcp"];
  /** What finds everything: all that has a date, unless told. */
  search?: string;
  /** What stands at something is found by itself: `list` has it too. */
  hasParts?: boolean;
}

/** A server with a connector to the remote, which nothing was read of yet. */
export async function openReaders(remote: Remote) {
  const { source, connect, list, openMcp, search = "after=1990-01-01", hasParts = false } = remote;
  let isBreaking = false;
  const runs = runsOf(source);
  const breaking: Source = {
    ...source,
    sessions: scripted(async function* (ctx, run) {
      let hasTold = false;
      for await (const event of runs?.(ctx, run) ?? []) {
        yield event;
        hasTold ||= event.t === "upsert";
        if (isBreaking && hasTold && event.t === "checkpoint")
          throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: HOUR_MS });
      }
    }),
  };
  const sources = {
    find: async (id: string) => (id === source.spec.providerId ? breaking : undefined),
    list: async () => [breaking],
  };
  const kb = await makeServer({ addressGuard: thisMachine, settings: { rateLimits: "off" } }, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor, ...(openMcp && { openMcp }) }),
  );
  kb.clock.advance(Date.now() - kb.clock.now());
  const owner = await kb.addOwner("One");
  const users = new Map<Person, TestUser>([["owner", owner]]);
  for (const person of ["reader", "leaver", "outsider"] as const)
    users.set(person, await kb.addMember(owner.workspaceId));
  users.set("stranger", await kb.addOwner("Two"));
  const userOf = (person: Person): TestUser => {
    const user = users.get(person);
    if (!user) throw new Error(`No one is ${person}.`);
    return user;
  };
  const as = (person: Person) => kb.as(userOf(person));
  const must = async (person: Person, method: string, path: string, body?: unknown) => {
    const answer = await as(person).request(method, path, { body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.json;
  };
  const memberIds = [userOf("reader").userId, userOf("leaver").userId];
  const groupId: string = (await must("owner", "POST", "/api/groups", { name: "Readers", memberIds })).group.id;
  const { by = "owner", body } = await connect({ kb, userOf, as, groupId });
  const { providerId } = source.spec;
  const whole = { providerId, name: "Files", config: {}, access: { visibility: "workspace" }, ...body };
  const connectorId: string = (await must(by, "POST", "/api/connectors", whole)).connector.id;

  async function shownTo(person: Person) {
    const client = as(person);
    const lists = await client.get("/api/connectors/all-files?limit=200");
    // Who has left the workspace is not let in.
    if (lists.status === 401) return { listed: [], found: [], total: 0, counted: 0 };
    const found = (await client.get(`/api/connectors/search?${search}&limit=50`)).json;
    const { counts } = (await client.get("/api/connectors/file-counts-by-source")).json;
    const idsOf = (files: { kbId: string }[]) => files.map(({ kbId }) => kbId).sort();
    return {
      listed: idsOf(lists.json.files),
      found: idsOf(found.results),
      total: found.total,
      counted: counts.reduce((sum: number, each: Counts) => sum + each.indexed + each.unsearchable, 0),
    };
  }

  const rows = () =>
    kb.database.read
      .selectFrom("items")
      .select(["kbId", "externalId"])
      .where("removedAt", "is", null)
      .$if(!hasParts, (query) => query.where("parentExternalId", "is", null))
      .execute();

  return {
    kb,
    userOf,
    groupId,
    connectorId,
    must,
    rows,
    work: () => kb.deps.worker.runUntilIdle(),
    /** Each run breaks off after the first checkpoint that stores something, until it is told that none does. */
    breakOff: (is: boolean) => void (isBreaking = is),
    /** Time, so many hours at once, with what is due then: increments, and nothing that a person asks for. */
    async pass(hours: number, atOnce = 1): Promise<void> {
      for (let hour = 0; hour < hours; hour += atOnce) {
        kb.clock.advance(atOnce * HOUR_MS);
        await kb.deps.worker.runUntilIdle();
      }
    },
    /** What the connector's runs were, the last one first. */
    runs: async () => (await as(by).get(`/api/connectors/${connectorId}/syncs`)).json.syncs,
    /** In every way there is, these persons find all that is stored, and the others not a word of it. */
    async expectShown(readers: readonly Person[], { isWhole = true } = {}): Promise<void> {
      const stored = await rows();
      const there = [...(await list())].sort();
      const here = stored.map(({ externalId }) => externalId).sort();
      if (isWhole) expect(here).toEqual(there);
      else expect(there).toEqual(expect.arrayContaining(here));
      const kbIds = stored.map(({ kbId }) => kbId).sort();
      for (const person of PERSONS) {
        const mine = readers.includes(person) ? kbIds : [];
        const wanted = { listed: mine, found: mine, total: mine.length, counted: mine.length };
        expect({ person, ...(await shownTo(person)) }).toEqual({ person, ...wanted });
        for (const kbId of kbIds) {
          const { status } = await as(person).get(`/api/connectors/files/${kbId}/content`);
          expect(status !== 404 && status !== 401, `content of ${kbId} for ${person}`).toBe(mine.includes(kbId));
        }
        const entities = await as(person).get("/api/entities");
        if (mine.length === 0 && entities.status === 200)
          expect({ person, ...entities.json }).toMatchObject({ total: 0 });
      }
    },
  };
}

interface Counts {
  indexed: number;
  unsearchable: number;
}

export type Readers = Awaited<ReturnType<typeof openReaders>>;

/** What changes at the remote, and how the connector is told who reads. */
export interface Change {
  act(): Promise<void> | void;
  /** Its readers are a part of this configuration; without one, they are those that the connector is shared with. */
  config?: object;
}

/** What is sent so that the members of a group read, and, where it is shared with them, the person who made it. */
export function readersBody(groupId: string, config?: object) {
  if (config) return { config: { ...config, readers: [groupId] } };
  return { access: { visibility: "members", memberIds: [], groupIds: [groupId] } };
}

/**
 * The cells of who-sees-what, for a source of which `kb` says who reads: a group, named in the config or in the access of the
 * connector. During the first run and after it, after another took part in the group and after another group reads, after 26
 * hours of increments, and who has left.
 */
export async function playReaders(world: Readers, { act, config }: Change): Promise<void> {
  const { must, groupId, connectorId, userOf } = world;
  // Who made it sees it, whomever it is shared with.
  const owner: Person[] = config ? [] : ["owner"];
  world.breakOff(true);
  await world.work();
  expect((await world.runs()).find(({ mode }: Run) => mode !== "identities")).toMatchObject({ state: "waiting" });
  const begun = await world.rows();
  expect(begun.length).toBeGreaterThan(0);
  await world.expectShown([...owner, "reader", "leaver"], { isWhole: false });
  world.breakOff(false);
  await world.pass(1);
  expect((await world.rows()).length).toBeGreaterThan(begun.length);
  await world.expectShown([...owner, "reader", "leaver"]);

  // Permissions alone: somebody is not in the group any more, from the next question on.
  await must("owner", "PATCH", `/api/groups/${groupId}`, { memberIds: [userOf("reader").userId] });
  await world.expectShown([...owner, "reader"]);
  // Others are the readers, within one run of groups.
  const memberIds = [userOf("outsider").userId, userOf("leaver").userId];
  const other: string = (await must("owner", "POST", "/api/groups", { name: "Others", memberIds })).group.id;
  await must("owner", "PATCH", `/api/connectors/${connectorId}`, readersBody(other, config));
  if (config) await world.work();
  await world.expectShown([...owner, "outsider", "leaver"]);

  await act();
  await world.pass(26);
  const modes = new Set((await world.runs()).map(({ mode }: Run) => mode));
  expect(modes).toContain("incremental");
  await world.expectShown([...owner, "outsider", "leaver"]);
  await must("owner", "DELETE", `/api/workspace/members/${userOf("leaver").userId}`);
  await world.expectShown([...owner, "outsider"]);
}

interface Run {
  mode: string;
  state: string;
}
