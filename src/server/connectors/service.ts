import { outermostId } from "#core/child-ids.ts";
import type {
  BrowseAnswer,
  BrowseBody,
  Connector,
  ConnectorListQuery,
  ConnectorPublic,
  ConnectorScope,
  CreateConnectorBody,
  HeldRemoval,
  PatchConnectorBody,
  PushResult,
  RequestSyncBody,
  ScopePlan,
  SourceKind,
  Sync,
} from "#api/connector-records.ts";
import type { BeginUploadBody, EndUploadBody, PushQuery, PushUpload } from "#api/push.ts";
import { listOpenings } from "#storage/access/openings.ts";
import { cutPage } from "#server/http/cursor.ts";
import { type Actor, actsAsAdmin, type ConnectorCaller } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ItemCount } from "#storage/records/items.ts";
import { changeScope, pauseOrResume, removeConnector, updateConnector } from "./change.ts";
import { createConnector } from "./create.ts";
import { rotateKey } from "./keys.ts";
import { type ConnectorDeps, manages, requireManaged } from "./deps.ts";
import { type DocumentBody, pushDocument } from "./push-document.ts";
import type { PushOnlyDeps } from "./push-deps.ts";
import { removePushed } from "./push-remove.ts";
import { pushItems } from "./push.ts";
import { beginUpload, endUpload, getUpload } from "./push-uploads.ts";
import { cancelSync, decideRemovals, getSync, listProgress, listRemovals, listSyncs, requestSync } from "./runs.ts";
import { browseSource, listSources, makeContext } from "./sources.ts";
import { toConnector, toPublic } from "./view.ts";

type Page = { limit: number; cursor?: string | undefined };
type Paged<Name extends string, T> = Record<Name, T[]> & { nextCursor: string | null };

/** Connectors, their runs, and what is pushed. Who may do what: docs/permissions.md. */
export interface ConnectorService {
  list(actor: Actor, query: ConnectorListQuery): Promise<Paged<"connectors", Connector | ConnectorPublic>>;
  listMine(actor: Actor, query: ConnectorListQuery): Promise<Paged<"connectors", Connector>>;
  get(actor: Actor, connectorId: string): Promise<{ connector: Connector }>;
  create(
    actor: Actor,
    body: CreateConnectorBody,
  ): Promise<{ connector: Connector; sync: Sync | null; key?: string | undefined }>;
  update(actor: Actor, connectorId: string, body: PatchConnectorBody): Promise<{ connector: Connector }>;
  remove(actor: Actor, connectorId: string): Promise<{ connector: Connector }>;
  changeScope(
    actor: Actor,
    connectorId: string,
    scope: ConnectorScope,
    isDryRun: boolean,
  ): Promise<{ connector: Connector; sync: Sync | null; plan: ScopePlan }>;
  pause(actor: Actor, connectorId: string): Promise<{ connector: Connector }>;
  resume(actor: Actor, connectorId: string): Promise<{ connector: Connector }>;
  rotateKey(actor: Actor, connectorId: string, overlapSeconds: number): Promise<{ key: string | null }>;
  listSources(): Promise<{ sources: SourceKind[] }>;
  browse(actor: Actor, body: BrowseBody): Promise<BrowseAnswer>;
  requestSync(actor: Actor, connectorId: string, body?: RequestSyncBody): Promise<{ sync: Sync }>;
  listSyncs(actor: Actor, connectorId: string, page: Page): Promise<Paged<"syncs", Sync>>;
  getSync(actor: Actor, connectorId: string, syncId: string): Promise<{ sync: Sync }>;
  cancelSync(actor: Actor, connectorId: string, syncId: string): Promise<{ sync: Sync }>;
  listProgress(actor: Actor): Promise<{ syncs: Sync[] }>;
  listRemovals(actor: Actor, connectorId: string, page: Page): Promise<Paged<"removals", HeldRemoval>>;
  approveRemovals(actor: Actor, connectorId: string, kbIds?: readonly string[]): Promise<{ removed: number }>;
  rejectRemovals(actor: Actor, connectorId: string, kbIds?: readonly string[]): Promise<{ kept: number }>;
  /** Results come as the lines are stored, some at a time. */
  push(
    caller: ConnectorCaller,
    body: AsyncIterable<Uint8Array> | null,
    query: PushQuery,
  ): Promise<AsyncGenerator<PushResult[], void>>;
  pushDocument(caller: ConnectorCaller, body: DocumentBody, uploadId: string | undefined): Promise<PushResult>;
  beginUpload(caller: ConnectorCaller, body: BeginUploadBody): Promise<{ upload: PushUpload }>;
  getUpload(caller: ConnectorCaller, uploadId: string): Promise<{ upload: PushUpload }>;
  endUpload(caller: ConnectorCaller, uploadId: string, body: EndUploadBody): Promise<{ upload: PushUpload }>;
  removeItem(caller: ConnectorCaller, externalId: string): Promise<{ result: "removed" | "held" | "absent" }>;
  /** The bytes of an item at its source; undefined when it keeps none. Rights are the caller's matter: `files/`. */
  fetchOriginal(
    workspaceId: string,
    connectorId: string,
    externalId: string,
  ): Promise<{ bytes: Uint8Array; mimeType?: string; fileName: string } | undefined>;
  /** What an agent should know of the person's own connectors while it searches; no words of a source. */
  notesFor(actor: Actor): Promise<string[]>;
}

/** Opens a file that a source gave, down to a file inside it; given by the sync engine. */
export interface ChildOpener {
  openChild(
    workspaceId: string,
    file: { bytes: Uint8Array; mimeType?: string; fileName: string },
    externalId: string,
  ): Promise<{ bytes: Uint8Array; mimeType?: string; fileName: string }>;
}

export type ConnectorServiceOptions = ConnectorDeps & PushOnlyDeps & ChildOpener;

export function makeConnectorService(deps: ConnectorServiceOptions): ConnectorService {
  const { store, clock, sources } = deps;
  const full = async (actor: Actor, record: ConnectorRecord) =>
    toConnector(store.in(actor.workspaceId), actor, record, clock.now());

  return {
    async list(actor, query) {
      const seen = actsAsAdmin(actor) ? new Set<string>() : await connectorsSeen(deps, actor);
      const isShown = (record: ConnectorRecord) => manages(actor, record) || isPublic(record, seen);
      const { page, nextCursor } = await pageOf(deps, actor, "GET /api/connectors", query, isShown);
      const connectors: (Connector | ConnectorPublic)[] = [];
      for (const record of page) connectors.push(manages(actor, record) ? await full(actor, record) : toPublic(record));
      return { connectors, nextCursor };
    },
    async listMine(actor, query) {
      const isMine = (record: ConnectorRecord) => record.ownerUserId === actor.userId;
      const { page, nextCursor } = await pageOf(deps, actor, "GET /api/connectors/mine", query, isMine);
      const connectors: Connector[] = [];
      for (const record of page) connectors.push(await full(actor, record));
      return { connectors, nextCursor };
    },
    async get(actor, connectorId) {
      const record = await requireManaged(store, actor, connectorId);
      const connector = await full(actor, record);
      if (record.ownerUserId !== actor.userId) return { connector };
      const about = {
        id: connectorId,
        ownerId: actor.userId,
        inside: record.visibility === "members" ? record.groupIds : [],
      };
      return {
        connector: {
          ...connector,
          openedByOthers: await listOpenings(store.in(actor.workspaceId), about, clock.now()),
        },
      };
    },
    create: (actor, body) => createConnector(deps, actor, body),
    update: (actor, connectorId, body) => updateConnector(deps, actor, connectorId, body),
    remove: (actor, connectorId) => removeConnector(deps, actor, connectorId),
    changeScope: (actor, connectorId, scope, isDryRun) => changeScope(deps, actor, connectorId, scope, isDryRun),
    pause: (actor, connectorId) => pauseOrResume(deps, actor, connectorId, "pause"),
    resume: (actor, connectorId) => pauseOrResume(deps, actor, connectorId, "resume"),
    rotateKey: (actor, connectorId, overlapSeconds) => rotateKey(deps, actor, connectorId, overlapSeconds),
    listSources: () => listSources(deps),
    browse: (actor, body) => browseSource(deps, actor, body),
    requestSync: (actor, connectorId, body) => requestSync(deps, actor, connectorId, body),
    listSyncs: (actor, connectorId, page) => listSyncs(deps, actor, connectorId, page),
    getSync: (actor, connectorId, syncId) => getSync(deps, actor, connectorId, syncId),
    cancelSync: (actor, connectorId, syncId) => cancelSync(deps, actor, connectorId, syncId),
    listProgress: (actor) => listProgress(deps, actor),
    listRemovals: (actor, connectorId, page) => listRemovals(deps, actor, connectorId, page),
    async approveRemovals(actor, connectorId, kbIds) {
      return { removed: await decideRemovals(deps, actor, connectorId, "approved", kbIds) };
    },
    async rejectRemovals(actor, connectorId, kbIds) {
      return { kept: await decideRemovals(deps, actor, connectorId, "rejected", kbIds) };
    },
    push: (caller, body, query) => pushItems(deps, caller, body, query),
    pushDocument: (caller, body, uploadId) => pushDocument(deps, caller, body, uploadId),
    beginUpload: (caller, body) => beginUpload(deps, caller, body),
    getUpload: (caller, uploadId) => getUpload(deps, caller, uploadId),
    endUpload: (caller, uploadId, body) => endUpload(deps, caller, uploadId, body),
    removeItem: (caller, externalId) => removePushed(deps, caller, externalId),

    async fetchOriginal(workspaceId, connectorId, externalId) {
      const record = await store.in(workspaceId).connectors.find(connectorId);
      const source = record && (await sources.find(record.providerId));
      if (!record || !source?.fetchContent) return undefined;
      const standing = await deps.credentials.standingOf(workspaceId, record);
      const context = makeContext(deps, source, record.config, { id: connectorId, name: record.name, ...standing });
      const outermost = outermostId(externalId);
      const file = await source.fetchContent(context, { externalId: outermost });
      return outermost === externalId ? file : deps.openChild(workspaceId, file, externalId);
    },
    async notesFor(actor) {
      const records = await store.in(actor.workspaceId).connectors.list();
      return records.flatMap((record) => (record.ownerUserId === actor.userId ? noteOf(record) : []));
    },
  };
}

function isPublic(record: ConnectorRecord, seen: ReadonlySet<string>): boolean {
  return record.state !== "deleting" && seen.has(record.connectorId);
}

const COUNTS_AT_ONCE = 500;

/** Connectors with at least one item that the actor may read. */
async function connectorsSeen({ policy }: ConnectorDeps, actor: Actor): Promise<Set<string>> {
  return policy.readList(actor, async ({ store, accesses }) => {
    const seen = new Set<string>();
    for (const { connectorId } of await store.connectors.list()) {
      for (let after: ItemCount | undefined; !seen.has(connectorId);) {
        const groups = await store.items.counts({ connectorId }, after, COUNTS_AT_ONCE);
        if (groups.some((group) => accesses.has(group.aclId))) seen.add(connectorId);
        if (groups.length < COUNTS_AT_ONCE) break;
        after = groups.at(-1);
      }
    }
    return seen;
  });
}

/** A page of the workspace's connectors, the oldest first. @throws ApiError `invalid_cursor` */
async function pageOf(
  { store, cursors }: ConnectorDeps,
  actor: Actor,
  route: string,
  query: ConnectorListQuery,
  isShown: (record: ConnectorRecord) => boolean,
): Promise<{ page: ConnectorRecord[]; nextCursor: string | null }> {
  const { limit, cursor, providerId, state, q } = query;
  const { workspaceId, userId } = actor;
  const scope = { workspaceId, userId, route, args: { providerId, state, q } };
  const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
  const rows = (await store.in(workspaceId).connectors.list()).filter(
    (record) =>
      (providerId === undefined || record.providerId === providerId) &&
      (state === undefined || record.state === state) &&
      (q === undefined || record.name.toLowerCase().includes(q.toLowerCase())) &&
      (after === undefined || isAfter(record, after)) &&
      isShown(record),
  );
  return cutPage(
    rows,
    limit,
    (row) => ({ flags: 0, value: row.createdAt, id: row.connectorId.slice(4) }),
    (position) => cursors.encode(scope, position),
  );
}

function isAfter(record: ConnectorRecord, after: { value: number; id: string }): boolean {
  if (record.createdAt !== after.value) return record.createdAt > after.value;
  return record.connectorId > `con_${after.id}`;
}

function noteOf({ name, state, lastFullAt, providerId }: ConnectorRecord): string[] {
  const shown = JSON.stringify(name);
  if (state === "needs_reauth") return [`Connector ${shown} needs new credentials; its items may be out of date.`];
  if (state === "error") return [`Connector ${shown} can't sync; its items may be out of date.`];
  if (state === "active" && lastFullAt === null && providerId !== "push") {
    return [`Connector ${shown} is still being indexed; later searches may find more.`];
  }
  return [];
}
