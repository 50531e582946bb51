import { facts } from "../storage/facts.ts";
import { createHash } from "node:crypto";
import type { EntityType } from "#api/common.ts";
import { analyzeDocument, nameInKey } from "#text/analyzer.ts";
import { fillConnectorGroup } from "#server/connectors/visibility.ts";
import type { AnsweringServices } from "#server/compose/content.ts";
import type { ItemEntity, ItemOp, PreparedItem } from "#storage/batch/item-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { NO_COUNTS } from "#storage/records/syncs.ts";
import type { Store } from "#storage/store.ts";
import { composeFeatures } from "../features.ts";
import { makeServer, type TestClient, type TestUser } from "../helpers.ts";
import {
  entityIdOf,
  identityOf,
  NOW,
  PERSONAS,
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
  model: Model;
}

/** What a planted leak puts in the place of the real parts, each of which the product is composed of. */
export type Plant = {
  [Name in keyof AnsweringServices]?: (real: AnsweringServices[Name], store: Store) => AnsweringServices[Name];
};

/** Puts a model into a server of its own, composed as the program composes it. */
export async function startServer(model: Model, plant: Plant = {}): Promise<LeakServer> {
  const kb = await makeServer({ settings: { rateLimits: "off" } }, (deps, database) =>
    composeFeatures(deps, database, {
      decorate: (name, part) => {
        const replace: Plant[typeof name] = plant[name];
        return replace === undefined ? part : replace(part, deps.store);
      },
    }),
  );
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
  for (const connector of model.connectors) await addConnector(kb, model, connector);
  const clients = {} as Record<Persona, TestClient>;
  for (const [persona, user] of users) {
    const isAdmin = persona === "owner" || persona === "stranger";
    const scopes = isAdmin ? (["mcp:read", "kb:api", "kb:admin"] as const) : (["mcp:read", "kb:api"] as const);
    clients[persona] = kb.withToken(await kb.token(user, scopes));
  }
  const removal = await clients.owner.delete(`/api/workspace/members/${userIdOf("removed")}`);
  if (removal.status >= 300) throw new Error(`The member was not removed: ${removal.text}`);
  return { clients, model, store: kb.store };
}

type Server = Awaited<ReturnType<typeof makeServer>>;

async function addPersona(kb: Server, persona: Persona): Promise<TestUser> {
  const workspaceId = persona === "stranger" ? WORKSPACES.two : WORKSPACES.one;
  const role = persona === "owner" || persona === "stranger" ? ("owner" as const) : ("member" as const);
  const user = { userId: userIdOf(persona), email: `${persona}@acme.test`, name: persona };
  await kb.store.transaction(async (tx) => {
    const rest = { passwordHash: null, emailVerifiedAt: null, timeZone: null, createdAt: NOW };
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
  const items = model.items.filter((item) => item.connectorId === connector.connectorId);
  const removed = items.filter((item) => item.isRemoved).map((item) => item.kbId);
  const ops: ItemOp[] = items.map((item) => ({ type: "upsert", item: prepare(item, connector, items) }));
  // In some worlds children come before their parents.
  if (model.seed % 2 === 1) ops.reverse();
  // What a connector's owner is told of must be the same in both worlds: it comes from what is in both.
  const told = items.filter((item) => !item.isAdded || !items.some((other) => !other.isAdded));
  const held = told.filter((item) => !item.isRemoved).slice(0, 3);
  const always = [`group:connector:${connector.connectorId}`];
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
  const times = { resumeAt: null, cancelRequestedAt: null, scopeVersion: 1, createdAt: NOW, startedAt: NOW };
  const problem = { code: "source_unavailable", message: `The source said ${problemCanaryOf(connector)}` };
  const progress = { done: 1, total: 2, note };
  const { syncs } = kb.store.in(workspaceId);
  await syncs.create({ ...base, ...times, progress, problem, syncId: finished, state: "partial", finishedAt: NOW });
  await syncs.create({
    ...base,
    ...times,
    progress,
    problem: null,
    syncId: running,
    state: "running",
    finishedAt: null,
  });
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

const externalIdOf = (item: ModelItem): string => `${item.canary}/${item.kbId}`;

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
    connectionId: null,
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
