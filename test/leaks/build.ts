import { facts } from "../storage/facts.ts";
import { createHash } from "node:crypto";
import type { EntityType } from "#api/common.ts";
import { analyzeDocument, nameInKey } from "#text/analyzer.ts";
import { groupsAlways } from "#storage/access/item-clocks.ts";
import { fillConnectorGroup } from "#server/connectors/visibility.ts";
import type { ItemEntity, ItemOp, PreparedItem } from "#storage/item-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { NO_COUNTS } from "#storage/records/syncs.ts";
import type { Principal } from "#core/principals.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import type { Store } from "#storage/records/store.ts";
import { makeSourceRegistry } from "#sources/registry.ts";
import { type AnsweringServices, composeFeatures } from "../features.ts";
import { makeServer, type TestAnswer, type TestClient, type TestUser } from "../helpers.ts";
import { NO_NETWORK } from "../network.ts";
import { makeWorld } from "../server/provider-servers/server.ts";
import { makeFakeServers, putConnections } from "./connections.ts";
import { externalIdOf, hear, makeMirrorSource, withKbIds } from "./mirror-source.ts";
import {
  entityIdOf,
  identityOf,
  NOW,
  PERSONAS,
  leftOutCanaryOf,
  problemCanaryOf,
  syncIdsOf,
  userIdOf,
  WORKSPACES,
  type Model,
  type ModelConnector,
  type ModelItem,
  type Persona,
} from "./model.ts";

/** A running server that holds a model, and the five who ask it. */
export interface LeakServer {
  /** Each acts with a token; that of `removed` belongs to somebody whose membership ended a moment ago. */
  clients: Record<Persona, TestClient>;
  store: Store;
  /** Of now: a step that changes it gives another one. */
  model: Model;
  /** What the index should know of each item, as it was last stored. */
  documents: ReadonlyMap<string, IndexedDocument>;
  actorOf(persona: Persona): Promise<Actor>;
  /** The provider servers. */
  others: ReturnType<typeof makeFakeServers>;
  /** Puts in a connector that the model has by now, with its items. */
  add(connector: ModelConnector): Promise<void>;
  /** Does what is due. */
  settle(): Promise<void>;
  /** Lets time pass. */
  moveTo(now: number): void;
  /** Lets time pass, has the sources say what the model says of then, and does what is due. */
  hearAt(now: number): Promise<void>;
}

/** What a planted leak puts in the place of the real parts, each of which the product is composed of. */
export type Plant = {
  [Name in keyof AnsweringServices]?: (real: AnsweringServices[Name], store: Store) => AnsweringServices[Name];
};

/** Puts a model into a server of its own, composed as the program composes it. */
export async function startServer(model: Model, plant: Plant = {}): Promise<LeakServer> {
  const documents = new Map<string, IndexedDocument>();
  const mirror = makeMirrorSource(() => server.model);
  const registry = makeSourceRegistry({
    allowedRoots: async () => [],
    dataFolder: "/nowhere",
    isOpenToStrangers: false,
    guard: NO_NETWORK,
    searchPath: "",
  });
  const sources = {
    find: async (id: string) => (id === "mirror" ? mirror : registry.find(id)),
    list: async () => [...(await registry.list()), mirror],
  };
  const others = makeFakeServers();
  const kb = await makeServer({ settings: { rateLimits: "off" } }, (deps, database) =>
    composeFeatures({ ...deps, store: withKbIds(deps.store, documents) }, database, {
      sources,
      openMcp: makeWorld(others.servers),
      decorate: (name, part) => {
        const replace: Plant[typeof name] = plant[name];
        return replace === undefined ? part : replace(part, deps.store);
      },
    }),
  );
  const asked = model.connectors.flatMap((where) => where.mirror?.rounds.map(({ at }) => at) ?? []);
  const times = [...new Set(asked)].sort((a, b) => a - b);
  kb.clock.advance((times[0] ?? NOW) - kb.clock.now());
  for (const [name, workspaceId] of Object.entries(WORKSPACES)) {
    await kb.store.workspaces.insert({ workspaceId, name, timeZone: "UTC", createdAt: NOW });
  }
  const users = new Map<Persona, TestUser>();
  for (const persona of PERSONAS) users.set(persona, await addPersona(kb, persona));
  for (const [group, members] of model.groups) {
    for (const workspaceId of Object.values(WORKSPACES)) {
      await kb.store.in(workspaceId).access.setMembers(group, members, "kb");
    }
  }
  if (model.connections.length > 0) await putConnections(kb, model);
  const store = withKbIds(kb.store, documents);
  for (const connector of model.connectors) await addConnector({ ...kb, store }, model, connector);
  const clients = {} as Record<Persona, TestClient>;
  for (const [persona, user] of users) {
    const isAdmin = persona === "owner" || persona === "stranger";
    const scopes = isAdmin ? (["mcp:read", "kb:api", "kb:admin"] as const) : (["mcp:read", "kb:api"] as const);
    clients[persona] = kb.withToken(await kb.token(user, scopes));
  }
  const server: LeakServer = {
    clients,
    model,
    store: kb.store,
    documents,
    others,
    add: (connector) => addConnector({ ...kb, store }, server.model, connector),
    async settle() {
      await kb.deps.worker.runUntilIdle();
    },
    async actorOf(persona) {
      const user = users.get(persona);
      if (!user) throw new Error(`No one is ${persona}.`);
      return kb.actor(user);
    },
    moveTo(now) {
      kb.clock.advance(now - kb.clock.now());
      server.model = { ...server.model, now };
    },
    async hearAt(now) {
      kb.clock.advance(now - kb.clock.now());
      await hear(kb, server.model.connectors);
      server.model = { ...server.model, now };
    },
  };
  await must(clients.owner.patch("/api/workspace", { identityDomains: ["acme.test"] }));
  for (const [at, time] of times.entries()) {
    await server.hearAt(time);
    if (at === 0) await joinPeople(server);
  }
  server.moveTo(NOW);
  await must(clients.owner.delete(`/api/workspace/members/${userIdOf("removed")}`));
  for (const { connectorId, isOrphan } of model.connectors) {
    if (isOrphan) await kb.store.in(WORKSPACES.one).connectors.update(connectorId, { state: "needs_owner" });
  }
  return server;
}

async function must(answer: Promise<TestAnswer>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`It was not done: ${text}`);
}

/** Who is who at the sources: by hand, by their own account, or, where it is told, by their address. */
async function joinPeople({ model, store, clients }: LeakServer): Promise<void> {
  const isTold =
    (user: Principal) =>
    ({ mirror }: ModelConnector) =>
      mirror?.users.find((each) => each.user === user);
  for (const [principal, persona] of model.joins) {
    const where = model.connectors.find(isTold(principal));
    if (!where || typeof isTold(principal)(where)?.email === "string") continue;
    const { connectorId } = where;
    const userId = userIdOf(persona);
    if (model.linked.has(principal)) {
      const body = { links: [{ principal, userId }] };
      await must(clients.owner.request("PUT", `/api/connectors/${connectorId}/people`, { body }));
      continue;
    }
    const join = { principal, userId, connectorId, basis: "account", joinedBy: null, joinedAt: NOW } as const;
    await store.transaction((tx) => tx.in(WORKSPACES.one).identities.join(join));
  }
}

type Server = Awaited<ReturnType<typeof makeServer>>;

async function addPersona(kb: Server, persona: Persona): Promise<TestUser> {
  const workspaceId = persona === "stranger" ? WORKSPACES.two : WORKSPACES.one;
  const role = persona === "owner" || persona === "stranger" ? ("owner" as const) : ("member" as const);
  const user = { userId: userIdOf(persona), email: `${persona}@acme.test`, name: persona };
  await kb.store.transaction(async (tx) => {
    const rest = { passwordHash: null, emailVerifiedAt: NOW, timeZone: null, createdAt: NOW };
    await tx.users.insert({ ...user, ...rest });
    await tx.in(workspaceId).members.insert({ userId: user.userId, role, joinedAt: NOW });
  });
  return kb.signIn({ ...user, workspaceId, role, sessionSecret: "" });
}

async function addConnector(kb: Server, model: Model, connector: ModelConnector): Promise<void> {
  const workspace = kb.store.in(WORKSPACES[connector.workspace]);
  const record = toRecord(connector);
  await workspace.connectors.create(record);
  await fillConnectorGroup(workspace, connector.connectorId, record);
  if (connector.mirror) return;
  const items = model.items.filter((item) => item.connectorId === connector.connectorId);
  const removed = items.filter((item) => item.isRemoved).map((item) => item.kbId);
  const ops: ItemOp[] = items.map((item) => ({ type: "upsert", item: prepare(item, connector, items) }));
  // In some worlds children come before their parents.
  if (model.seed % 2 === 1) ops.reverse();
  // What a connector's owner is told of must be the same in both worlds: it comes from what is in both.
  const told = items.filter((item) => !item.isAdded || !items.some((other) => !other.isAdded));
  const held = told.filter((item) => !item.isRemoved).slice(0, 3);
  const always = groupsAlways(record);
  const base = { connectorId: connector.connectorId, always, highest: items.length, now: NOW };
  const result = await workspace.itemWrites.applyBatch({
    ...base,
    ops: [
      ...ops,
      { type: "remove", kbIds: removed },
      { type: "sweep", kbIds: held.map((item) => item.kbId), hold: true },
    ],
  });
  if (!result.isApplied) throw new Error(`Not stored: ${result.reason}`);
  await holdRemovals(kb, connector, held);
  await addRuns(kb, connector, told.slice(-5));
  if (connector.isDeleting) {
    await workspace.connectors.update(connector.connectorId, { state: "deleting" });
    await workspace.access.raiseEpoch();
  }
}

/** As a run that did not find them would leave them: still there, and waiting for somebody to decide. */
async function holdRemovals(kb: Server, { connectorId, workspace }: ModelConnector, items: ModelItem[]): Promise<void> {
  const workspaceId = WORKSPACES[workspace];
  for (const { kbId } of items) {
    const row = { workspaceId, connectorId, kbId, syncId: null, heldAt: NOW };
    await kb.database.write.insertInto("removals").values(row).execute();
    await kb.database.write.updateTable("items").set({ indexState: "held" }).where("kbId", "=", kbId).execute();
  }
}

/** Runs that name items in their skips and notes, and quote their source. */
async function addRuns(kb: Server, connector: ModelConnector, named: ModelItem[]): Promise<void> {
  const { connectorId } = connector;
  const workspaceId = WORKSPACES[connector.workspace];
  const [finished, running] = syncIdsOf(connectorId);
  const [first] = named;
  const note = first ? externalIdOf(first) : null;
  const base = { connectorId, mode: "full", trigger: "manual", attempt: 1, counts: NO_COUNTS, items: null } as const;
  const unread = { syncId: "syn_2222222222222222", state: "failed" } as const;
  const times = { resumeAt: null, cancelRequestedAt: null, scopeVersion: 1, createdAt: NOW, startedAt: NOW };
  const problem = { code: "unreachable", message: `The source said ${problemCanaryOf(connector)}` } as const;
  const progress = { done: 1, total: 2, note };
  const { syncs } = kb.store.in(workspaceId);
  const ended = { syncId: finished, state: "partial", finishedAt: NOW } as const;
  await syncs.create({ ...base, ...times, ...ended, progress, problem, people: { ...unread, problem } });
  await syncs.create({
    ...base,
    ...times,
    progress,
    problem: null,
    people: null,
    syncId: running,
    state: "running",
    finishedAt: null,
  });
  const canary = leftOutCanaryOf(connector);
  for (const syncId of [finished, running]) {
    for (const externalId of [`${canary}/dist`, `gone.zip!//${canary}.txt`]) {
      const skip = { externalId, reason: "generated", message: `Not read: ${canary}`, retryable: 0 };
      await kb.database.write
        .insertInto("sync_skips")
        .values({ workspaceId, syncId, ...skip })
        .execute();
    }
  }
  for (const item of named) {
    const skip = { externalId: externalIdOf(item), reason: "failed", message: `Broken: ${item.canary}`, retryable: 1 };
    for (const syncId of [finished, running]) {
      await kb.database.write
        .insertInto("sync_skips")
        .values({ workspaceId, syncId, ...skip })
        .execute();
    }
  }
}

function toRecord(connector: ModelConnector): ConnectorRecord {
  return {
    connectorId: connector.connectorId,
    providerId: connector.providerId,
    name: connector.name,
    ownerUserId: userIdOf(connector.owner),
    visibility: connector.visibility,
    memberIds: connector.members.map(userIdOf),
    groupIds: [],
    config: {},
    scope: { include: [], exclude: [] },
    scopeVersion: 1,
    accountId: null,
    connectionId: connector.connectionId ?? null,
    everyMinutes: null,
    state: "active",
    stateReason: null,
    nextRunAt: null,
    cursor: null,
    consecutiveFailures: 0,
    aclCheckedAt: null,
    lastFullAt: null,
    refusedAt: null,
    proofTriedAt: null,
    pausedBy: null,
    withheldAt: null,
    ownedSince: NOW,
    createdAt: NOW,
    createdBy: userIdOf(connector.owner),
  };
}

function prepare(item: ModelItem, connector: ModelConnector, family: readonly ModelItem[]): PreparedItem {
  const parent = family.find((other) => other.kbId === item.parent);
  const author = entity("person", item.author, "author", item);
  const labels = item.labels.map((label) => entity("label", label, "label", item));
  const folder = entity("folder", item.path[0] ?? "", "container", item);
  const { title, path, text } = item;
  const analyzed = analyzeDocument({ title, name: nameInKey(item), path, labels: item.labels, text });
  const sections = [{ name: title, level: 1, start: 0 }];
  const textHash = createHash("sha256").update(text).digest("hex");
  return {
    newKbId: item.kbId,
    externalId: externalIdOf(item),
    parentExternalId: parent ? externalIdOf(parent) : null,
    identityHint: null,
    providerId: connector.providerId,
    source: item.source,
    ...facts({
      kind: item.kind,
      key: item.key,
      title,
      path,
      mimeType: "text/markdown",
      size: text.length,
      status: item.kind === "task" ? (item.isDone ? "done" : "open") : null,
      labels: item.labels,
      fields: item.fields,
      author: { name: item.author, entityId: author.entityId, claimed: true },
      assignees: [{ name: item.author, entityId: author.entityId, claimed: true }],
      createdAt: item.updatedAt - 86_400_000,
      updatedAt: item.updatedAt,
      dueAt: item.dueAt,
    }),
    url: item.url,
    lineAnchor: null,
    version: "1",
    entities: [author, { ...author, role: "assignee" }, ...labels, folder],
    access: item.access,
    text: { state: "text", text, textHash, sections, analyzed },
    maskedSecrets: 0,
    indexHash: `${textHash} ${item.kbId}`,
  };
}

function entity(type: EntityType, name: string, role: ItemEntity["role"], item: ModelItem): ItemEntity {
  return {
    entityId: entityIdOf(item, type, name),
    type,
    identity: identityOf(name),
    role,
    name,
    nameKey: name.toLowerCase(),
    email: type === "person" ? `${item.canary}@acme.test` : null,
    login: type === "person" ? item.canary : null,
    claimed: true,
  };
}
