/** A source that says what a model says it did, and the runs in which the server hears it. */
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { SourceRef } from "#sources/outcomes.ts";
import { toIndexUpsert } from "#storage/batch/index-upsert.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { scripted } from "../scripted.ts";
import { BASE_URL, type Look, type Mirror, type Round, shutIn, sourceUser, spaceAt } from "./mirror.ts";
import { problemCanaryOf, WORKSPACES, type Model, type ModelConnector, type ModelItem } from "./model.ts";

/** The id at its source ends in the kbId. */
export const externalIdOf = (item: Pick<ModelItem, "canary" | "kbId">): string => `${item.canary}/${item.kbId}`;

/** The source of all mirrored connectors; `modelNow` is asked at each run. */
export function makeMirrorSource(modelNow: () => Model): Source {
  const find = (connectorId: string, now: number) => {
    const where = modelNow().connectors.find((one) => one.connectorId === connectorId);
    const at = where?.mirror?.rounds.findLastIndex((round) => round.at <= now) ?? -1;
    const round = where?.mirror?.rounds[at];
    if (!where?.mirror || !round) throw new Error("Nothing is planned for this run.");
    return { where, mirror: where.mirror, round, at };
  };
  return {
    spec: {
      providerId: "mirror",
      name: "Mirror",
      kinds: ["task", "file", "page", "message"],
      auth: [{ type: "none" }],
      config: z.strictObject({}),
      acl: "per_item",
      freshness: "feed",
      hasPeople: true,
      instances: [BASE_URL],
    },
    check: async () => ({ ok: true }),
    originOf: () => BASE_URL,
    baseUrlOf: () => BASE_URL,
    sessions: scripted(async function* (ctx) {
      const { where, mirror, round, at } = find(ctx.connector.id, ctx.now());
      round.isHeard = true;
      failIf(round, where);
      if (mirror.tellsGroupsIn === "sync") {
        yield* groupEvents(mirror, at);
        yield* refusedGroups(mirror, at);
      }
      yield* itemEvents(modelNow(), where, round, at);
    }),
    async *syncIdentities(ctx, { mode }) {
      const { where, mirror, round, at } = find(ctx.connector.id, ctx.now());
      failIf(round, where);
      round.people = mode === "whole" ? "whole" : "changes";
      const isTold = mirror.tellsGroupsIn === "identities";
      if (isTold) yield* groupEvents(mirror, at);
      for (const each of mirror.users) yield* userEvents(each, at);
      const notLookedAt = [
        ...(isTold ? mirror.groups : []).flatMap(({ group, told }) => (told[at] === "not_looked_at" ? [group] : [])),
        ...mirror.users.flatMap(({ user, told }) => (told[at] === "not_looked_at" ? [user] : [])),
      ];
      yield { t: "end", listing: "complete", notLookedAt };
    },
  };
}

function failIf({ outcome }: Round, where: ModelConnector): void {
  const message = `The source said ${problemCanaryOf(where)}`;
  if (outcome === "unavailable") throw new ApiError("source_unavailable", { message });
  if (outcome === "unauthorized") throw new ApiError("source_unauthorized", { message });
}

function* groupEvents({ groups }: Mirror, at: number) {
  for (const { group, space, told } of groups) {
    const members = told[at];
    const containers = space === null ? undefined : [folder(space)];
    if (Array.isArray(members)) yield { t: "group" as const, group, members, ...(containers && { containers }) };
  }
}

function* refusedGroups({ groups }: Mirror, at: number): Iterable<SyncEvent> {
  for (const { group, told } of groups) {
    if (told[at] === "refused") yield { t: "refused", what: { group }, code: "source_forbidden" };
  }
}

const folder = (id: string) => ({ type: "folder", id }) as const;

function* userEvents({ user, canary, email, told }: Mirror["users"][number], at: number): Iterable<IdentityEvent> {
  const state = told[at];
  if (state === undefined || state === "not_looked_at") return;
  const address = email ?? `${canary}@source.test`;
  yield {
    t: "identity",
    principal: user,
    state,
    name: `Someone ${canary}`,
    login: canary,
    email: { address, isVerified: true },
  };
}

function* itemEvents(model: Model, where: ModelConnector, round: Round, at: number): Iterable<SyncEvent> {
  const { connectorId, mirror } = where;
  const items = model.items.filter((item) => item.connectorId === connectorId);
  // In some worlds children come before their parents.
  if (model.seed % 2 === 1) items.reverse();
  const notLookedAt: SourceRef[] = [];
  for (const [id, said] of Object.entries(round.spaces)) {
    const container = folder(id);
    if (said === "listed") continue;
    if (said === "gone") yield { t: "delete_container", ...container };
    else if (said === "refused") yield { t: "refused", what: { container }, code: "source_forbidden" };
    else notLookedAt.push({ container });
  }
  for (const item of items) {
    const { mirrored } = item;
    if (!mirrored) continue;
    const space = spaceAt(mirrored, at);
    if (shutIn(round, space) !== undefined) continue;
    const externalId = externalIdOf(item);
    const look: Look = mirrored.looks[at] ?? { says: "nothing" };
    yield { t: "progress", done: at, note: externalId };
    switch (look.says) {
      case "item":
        yield { t: "upsert", item: toSourceItem(item, { access: look.access, space }, items, where) };
        break;
      case "access":
        if (look.access) yield { t: "access", externalId, access: look.access };
        break;
      case "refused":
        yield { t: "refused", what: { externalId }, code: "source_gone" };
        break;
      case "not_looked_at":
        notLookedAt.push({ externalId });
        break;
      case "failed":
        yield { t: "skip", externalId, reason: "failed", message: `Broken: ${item.canary}`, retryable: true };
        break;
      case "deleted":
        yield { t: "delete", externalId };
        break;
      case "nothing":
    }
  }
  for (const [id, said] of Object.entries(round.spaces))
    if (said === "listed") yield { t: "listed", container: folder(id) };
  if (mirror?.tellsGroupsIn === "sync") {
    for (const { group, told } of mirror.groups) if (told[at] === "not_looked_at") notLookedAt.push({ group });
  }
  const isProof = round.outcome === "proof";
  yield {
    t: "end",
    listing: isProof ? "complete" : "partial",
    permissions: round.outcome === "partial" ? "not_checked" : "current",
    notLookedAt,
  };
}

function toSourceItem(
  item: ModelItem,
  { access, space }: { access: SourceItem["access"] | null; space: string },
  family: readonly ModelItem[],
  where: ModelConnector,
): SourceItem {
  const { kind, title, text, path, labels, fields, key, url, updatedAt, dueAt, source, mirrored } = item;
  const parent = family.find(({ kbId }) => kbId === item.parent);
  const answered = family.find(({ kbId }) => kbId === mirrored?.replyTo);
  const author = {
    name: item.author,
    principal: sourceUser(mirrored?.authorId ?? ""),
    email: `${item.canary}@acme.test`,
    login: item.canary,
    claimed: false,
  };
  return {
    externalId: externalIdOf(item),
    kind,
    title,
    content: { type: "inline", text },
    path,
    labels,
    fields,
    author,
    assignees: [author],
    containers: [{ ...folder(space), name: path[0] ?? "", isHome: true }],
    place: source.slice(`${where.providerId}:`.length),
    createdAt: updatedAt - 86_400_000,
    updatedAt,
    version: "1",
    ...(kind === "task" && { status: item.isDone ? ("done" as const) : ("open" as const) }),
    ...(key !== null && { key }),
    ...(url !== null && { url }),
    ...(dueAt !== null && { dueAt }),
    ...(parent && { partOf: externalIdOf(parent) }),
    ...(answered && { replyTo: externalIdOf(answered) }),
    ...(access && { access }),
  };
}

/** The store, in which new items have the kbIds of the model, and what the index is told of them is noted. */
export function withKbIds(store: Store, documents: Map<string, IndexedDocument>): Store {
  return wrap(store, "in", (workspaceId: string) => {
    const inner = store.in(workspaceId);
    const { itemWrites } = inner;
    const applyBatch: WorkspaceStore["itemWrites"]["applyBatch"] = (batch) => {
      const ops = batch.ops.map((op): ItemOp => {
        if (op.type !== "upsert") return op;
        const newKbId = op.item.externalId.split("/").at(-1) ?? "";
        const change = toIndexUpsert(op.item, newKbId, batch.connectorId, 0);
        if (change.type === "upsert") documents.set(newKbId, change.document);
        return { ...op, item: { ...op.item, newKbId } };
      });
      return itemWrites.applyBatch({ ...batch, ops });
    };
    return wrap(inner, "itemWrites", wrap(itemWrites, "applyBatch", applyBatch));
  });
}

function wrap<T extends object, K extends keyof T>(target: T, name: K, value: T[K]): T {
  return new Proxy(target, { get: (from, key) => (key === name ? value : Reflect.get(from, key)) });
}

/** Asks every mirrored source for its items and its people, and hears them. */
export async function hear(
  kb: {
    store: Store;
    clock: { now(): number };
    deps: { worker: { runUntilIdle(): Promise<number> }; randomBytes: (count: number) => Uint8Array };
  },
  connectors: readonly Pick<ModelConnector, "connectorId" | "mirror">[],
): Promise<void> {
  const workspaceId = WORKSPACES.one;
  const now = kb.clock.now();
  const wish = { trigger: "manual", now, randomBytes: kb.deps.randomBytes } as const;
  for (const { connectorId, mirror } of connectors) {
    const round = mirror?.rounds.find(({ at }) => at === now);
    const connector = await kb.store.in(workspaceId).connectors.find(connectorId);
    if (!round || !connector) continue;
    const mode = round.outcome === "proof" ? "full" : "incremental";
    await kb.store.transaction(async (tx) => {
      await requestIdentities(tx, workspaceId, connector, wish);
      await requestSync(tx, workspaceId, connector, { ...wish, mode });
    });
  }
  await kb.deps.worker.runUntilIdle();
}
