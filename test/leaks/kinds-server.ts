/**
 * A server with a connector of each kind, its real source over a remote of its own, and people who are somebody there. Who
 * may read what is asked of the remotes alone.
 */
import { randomBytes } from "node:crypto";
import { instanceName } from "#core/base-url.ts";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import type { Source } from "#sources/contract.ts";
import { composeFeatures } from "../features.ts";
import { makeServer, type TestClient, type TestUser } from "../helpers.ts";
import type { Failing, KitFixture } from "../kit/fixture.ts";
import { thisMachine } from "../kit/network.ts";
import { fakeExtractor } from "../server/sync/harness.ts";
import type { Plant } from "./build.ts";
import type { Kind } from "./kinds.ts";
import { type Marks, markSource, type Twist } from "./marked-source.ts";
import { canariesIn, canaryFor, type Random } from "./model.ts";
import type { Vocabulary } from "./requests.ts";

/** `owner` runs the workspace and `nobody` is in it; the numbers are each somebody at each remote, of whom `third` has left kb. */
export const ACTORS = ["owner", "nobody", "first", "second", "third", "fourth", "fifth", "stranger"] as const;
export type ActorName = (typeof ACTORS)[number];
const SOMEBODY = ["first", "second", "third", "fourth", "fifth"] as const;
const GONE: ActorName = "third";
/** Whose mailbox is connected. */
const MAILBOX_OF: ActorName = "first";

interface Connected {
  name: string;
  connectorId: string;
  fixture: KitFixture;
  marks: Marks;
  mark: string;
  /** Whom people of the remote are here. */
  actors: Map<string, ActorName>;
  /** A group of ours that its config names as its readers, and who is in it. */
  readers: { groupId: string; actors: Set<ActorName> } | undefined;
  failing: Failing | undefined;
}

export type KindsServer = Awaited<ReturnType<typeof openKinds>>;

export async function openKinds(
  kinds: readonly Kind[],
  options: { seed?: number; plant?: Plant; twist?: (name: string) => Twist } = {},
) {
  const { seed = 0, plant = {}, twist } = options;
  const opened = await Promise.all(
    kinds.map(async ({ name, open }) => {
      const fixture = await open();
      return { name, fixture, ...markSource(fixture.source, name, twist?.(name)) };
    }),
  );
  const sources = {
    find: async (id: string): Promise<Source | undefined> =>
      opened.find(({ source }) => source.spec.providerId === id)?.source,
    list: async () => opened.map(({ source }) => source),
  };
  const kb = await makeServer({ addressGuard: thisMachine, settings: { rateLimits: "off" } }, (core, database) =>
    composeFeatures(core, database, {
      sources,
      extractor: fakeExtractor,
      decorate: (name, part) => {
        const replace: Plant[typeof name] = plant[name];
        return replace === undefined ? part : replace(part, core.store);
      },
    }),
  );
  // Remotes have the time of this machine.
  kb.clock.advance(Date.now() - kb.clock.now());
  const owner = await kb.addOwner("One");
  const { workspaceId } = owner;
  const store = kb.store.in(workspaceId);
  const users = new Map<ActorName, TestUser>([["owner", owner]]);
  for (const name of ACTORS) {
    if (name === "stranger") users.set(name, await kb.addOwner("Two"));
    else if (name !== "owner") users.set(name, await kb.addMember(workspaceId));
  }
  const userOf = (name: ActorName): TestUser => {
    const user = users.get(name);
    if (!user) throw new Error(`No one is ${name}.`);
    return user;
  };
  const clients = new Map<ActorName, TestClient>();
  for (const name of ACTORS) {
    const isAdmin = name === "owner" || name === "stranger";
    const scopes = isAdmin ? (["mcp:read", "kb:api", "kb:admin"] as const) : (["mcp:read", "kb:api"] as const);
    clients.set(name, kb.withToken(await kb.token(userOf(name), scopes)));
  }

  async function must(name: ActorName, method: string, path: string, body: unknown) {
    const answer = await kb.as(userOf(name)).request(method, path, { body });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return answer.json;
  }

  const instances = opened.flatMap(({ source, fixture }) => {
    const baseUrl = source.baseUrlOf?.(fixture.config);
    return baseUrl === undefined ? [] : [{ providerId: source.spec.providerId, baseUrl }];
  });
  await must("owner", "PATCH", "/api/workspace", { instances });
  const all: Connected[] = [];
  for (const [at, { name, fixture, source, marks }] of opened.entries()) {
    const { config, credentials } = fixture;
    const actors = new Set<ActorName>([SOMEBODY[(at + seed) % 5] ?? "first", "owner"]);
    const memberIds = [...actors].map((each) => userOf(each).userId);
    const isNamed = source.spec.namedIn?.includes("readers") === true;
    const readers = isNamed
      ? {
          groupId: (await must("owner", "POST", "/api/groups", { name: `Readers of ${name}`, memberIds })).group.id,
          actors,
        }
      : undefined;
    const mark = canaryFor(`connector ${name}`);
    const body = {
      providerId: source.spec.providerId,
      name: `${name} ${mark}`,
      config: { ...(config as object), ...(readers && { readers: [readers.groupId] }) },
      access: { visibility: source.spec.acl === "connector" || (at + seed) % 2 === 0 ? "workspace" : "source" },
      ...(credentials && { credentials }),
    };
    const { connector } = await must(
      fixture.source.spec.isForOwner ? MAILBOX_OF : "owner",
      "POST",
      "/api/connectors",
      body,
    );
    all.push({
      name,
      connectorId: connector.id,
      fixture,
      marks,
      mark,
      actors: new Map(),
      readers,
      failing: undefined,
    });
  }

  const principalOf = async ({ fixture, connectorId }: Connected): Promise<(id: string) => Principal> => {
    const { source, config } = fixture;
    const { providerId } = source.spec;
    const baseUrl = source.baseUrlOf?.(config);
    const tenantId = await store.instances.tenantOf(connectorId);
    const instance = baseUrl === undefined ? connectorId : instanceName(baseUrl, tenantId);
    return (id) => formatPrincipal({ type: "source_user", providerId, instance, id });
  };

  /** People of the remotes become members, another one each for another seed. */
  async function joinPeople(): Promise<void> {
    for (const each of all) {
      if (!each.fixture.source.spec.hasPeople) continue;
      const at = await principalOf(each);
      const people = (await each.fixture.people?.()) ?? [];
      for (const [i, name] of SOMEBODY.entries()) {
        const person = people[(i + seed) % people.length];
        if (!person || i >= people.length) continue;
        each.actors.set(person.id, name);
        const who = { principal: at(person.id), userId: userOf(name).userId, connectorId: each.connectorId };
        const join = { ...who, basis: "admin" as const, joinedBy: owner.userId, joinedAt: kb.clock.now() };
        await kb.store.transaction((tx) => tx.in(workspaceId).identities.join(join));
      }
    }
  }

  async function readPeople(): Promise<void> {
    // People and groups are read at most once a minute for those who ask.
    kb.clock.advance(60_000);
    for (const { connectorId, fixture } of all) {
      const connector = await store.connectors.find(connectorId);
      if (!connector || !fixture.source.syncIdentities) continue;
      const wish = { trigger: "manual" as const, now: kb.clock.now(), randomBytes };
      await kb.store.transaction((tx) => requestIdentities(tx, workspaceId, connector, wish));
    }
    await kb.deps.worker.runUntilIdle();
  }

  /** Everything is read: first who is who, then what there is. */
  async function read(mode: "full" | "incremental" = "incremental"): Promise<void> {
    await readPeople();
    kb.clock.advance(1);
    for (const { connectorId, fixture } of all)
      await must(
        fixture.source.spec.isForOwner ? MAILBOX_OF : "owner",
        "POST",
        `/api/connectors/${connectorId}/syncs`,
        { mode },
      );
    await kb.deps.worker.runUntilIdle();
  }

  await readPeople();
  await joinPeople();
  await kb.deps.worker.runUntilIdle();
  // Who is told of between items is known after them.
  await readPeople();
  await must("owner", "DELETE", `/api/workspace/members/${userOf(GONE).userId}`, undefined);

  const rows = () =>
    kb.database.read
      .selectFrom("items")
      .select(["kbId", "externalId", "connectorId", "title", "url", "key", "path", "source", "indexHash"])
      .where("removedAt", "is", null)
      .orderBy("kbId")
      .execute();
  type Row = Awaited<ReturnType<typeof rows>>[number];

  /** Who may read an item at its remote, of those who are asked here. */
  async function readersOf(each: Connected, externalId: string): Promise<ReadonlySet<ActorName>> {
    const { fixture, actors, readers, failing } = each;
    if (failing?.externalIds.includes(externalId) === true) return new Set();
    if (fixture.source.spec.isForOwner) return new Set([MAILBOX_OF]);
    if (readers) return readers.actors;
    const ids = (await fixture.whoSees?.(externalId)) ?? [];
    const found = new Set(ids.flatMap((id) => actors.get(id) ?? []));
    if ((await fixture.isPublic?.(externalId)) === true)
      for (const name of ACTORS) if (name !== "stranger") found.add(name);
    return found;
  }

  /** What everybody may read now, and what of it is in kb. */
  async function look() {
    const living = await rows();
    const readable = new Map<ActorName, Row[]>(ACTORS.map((name) => [name, []]));
    for (const row of living) {
      const each = all.find(({ connectorId }) => connectorId === row.connectorId);
      if (!each) throw new Error("An item is of no connector.");
      for (const name of await readersOf(each, row.externalId)) if (name !== GONE) readable.get(name)?.push(row);
    }
    return { living, readable };
  }
  type View = Awaited<ReturnType<typeof look>>;

  async function allowedMarks(name: ActorName, { living, readable }: View): Promise<ReadonlySet<string>> {
    const allowed = new Set<string>();
    if (name === GONE || name === "stranger") return allowed;
    for (const each of all) {
      const own = (readable.get(name) ?? []).filter(({ connectorId }) => connectorId === each.connectorId);
      for (const { kbId, externalId } of own)
        for (const mark of [kbId, each.mark, ...each.marks.ofItem(externalId)]) allowed.add(mark);
      const manages = name === "owner" || (each.fixture.source.spec.isForOwner === true && name === MAILBOX_OF);
      if (manages) for (const mark of [each.mark, ...each.marks.people]) allowed.add(mark);
      const at = await principalOf(each);
      for (const [id, who] of each.actors) if (who === name) allowed.add(each.marks.ofPerson(at(id)));
    }
    // The log of what was read is the owner's.
    if (name === "owner") for (const { kbId } of living) allowed.add(kbId);
    return allowed;
  }

  async function vocabulary(name: ActorName, { living, readable }: View, random: Random): Promise<Vocabulary> {
    const seen = readable.get(name) ?? [];
    const again = seen.length === 0 ? [] : living.map(() => random.pick(seen));
    const both = [...living, ...again];
    const present = (values: readonly (string | null)[]) => values.filter((value) => value !== null);
    const entities = await kb.database.read.selectFrom("item_entities").select(["entityId", "name", "kbId"]).execute();
    const runs = await kb.database.read.selectFrom("syncs").select(["syncId", "connectorId"]).execute();
    const connectorIds = all.map(({ connectorId }) => connectorId);
    const marks = all.flatMap(({ marks: of, connectorId }) =>
      living.filter((row) => row.connectorId === connectorId).flatMap((row) => [...of.ofItem(row.externalId)]),
    );
    const plain = [...new Set(living.flatMap(({ title }) => title.toLowerCase().match(/[a-z]{4,}/g) ?? []))];
    return {
      random,
      kbIds: both.map(({ kbId }) => kbId),
      connectorIds,
      hiddenConnectorIds: ["con_2222222222222222", "con_3333333333333333"],
      serverIds: ["srv_2222222222222222"],
      hiddenConnectionIds: ["cnx_2222222222222222"],
      words: [...plain, ...marks, "cnry", "content", "about", "text"],
      sources: [...new Set(living.map(({ source }) => source)), ...all.map((one) => one.name)],
      urls: [...present(both.map(({ url }) => url)), "https://docs.test/nowhere"],
      keys: [...present(both.map(({ key }) => key)), "NOPE-1"],
      names: both.flatMap(({ title, kbId }) => [title, `/i/${kbId}`]),
      people: ["me", ...entities.map((entity) => entity.name)],
      pairs: ["stage:nowhere", "nowhere:1"],
      entityIds: [...entities.map(({ entityId }) => entityId), "ent_2222222222222222"],
      syncIdsOf: (connectorId) =>
        runs
          .filter((run) => run.connectorId === connectorId)
          .map(({ syncId }) => syncId)
          .concat("syn_2222222222222222"),
    };
  }

  return {
    all,
    clock: kb.clock,
    clientOf: (name: ActorName): TestClient => clients.get(name) ?? kb.anyone(),
    read,
    look,
    allowedMarks,
    vocabulary,
    /** The kinds of which something stands in a text. */
    async kindsIn(text: string): Promise<ReadonlySet<string>> {
      const found = marksIn(text);
      const living = await rows();
      return new Set(
        all.flatMap(({ name, connectorId, marks }) => {
          const own = living.filter((row) => row.connectorId === connectorId);
          const words = own.flatMap(({ kbId, externalId }) => [kbId, ...marks.ofItem(externalId)]);
          return words.some((word) => found.has(word)) ? [name] : [];
        }),
      );
    },
    /** Lets time pass, and does what is due then. */
    async pass(ms: number): Promise<void> {
      kb.clock.advance(ms);
      await kb.deps.worker.runUntilIdle();
    },
    /** Other people of ours read what a config names. */
    async turnReaders(): Promise<void> {
      for (const { readers } of all) {
        if (!readers) continue;
        const now: ActorName[] = readers.actors.has("fourth") ? ["second", "owner"] : ["fourth"];
        readers.actors.clear();
        for (const name of now) readers.actors.add(name);
        const memberIds = now.map((name) => userOf(name).userId);
        await must("owner", "PATCH", `/api/groups/${readers.groupId}`, { memberIds });
      }
    },
  };
}

/** Marks and ids of items that a text has. */
export function marksIn(text: string): ReadonlySet<string> {
  return new Set([...canariesIn(text), ...(text.match(/\bkbi_[2-9a-z]{16}\b/g) ?? [])]);
}
