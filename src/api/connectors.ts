/**
 * Connectors, their runs and what they would remove. Pushing: `push.ts`. Files and search: `files.ts`, `search.ts`.
 * Over 400 lines because it is a table: 20 routes with their shapes, read side by side.
 */
import { idSchema, ItemKind, PageCursor, PageLimit, SourceProblem, Timestamp } from "./common.ts";
import { answer, body, createRoute, json, problemAnswer, z } from "./route.ts";

export const ConnectorState = z.enum(["pending_auth", "active", "paused", "needs_reauth", "error", "deleting"]);
export const Visibility = z.enum(["private", "members", "workspace", "source"]);
export const SyncMode = z.enum(["full", "incremental", "identities", "items"]);
export const SyncState = z.enum([
  "queued",
  "running",
  "waiting",
  "cancelling",
  "succeeded",
  "partial",
  "failed",
  "cancelled",
]);

const Count = z.number().int();
const ConnectorId = idSchema("connector");
const Name = z.string().trim().min(1).max(120);
const ProviderId = z.string().min(1).max(64);
const Config = z.record(z.string(), z.unknown());
const Credentials = z.record(z.string().max(64), z.string().max(16_384));
const ScopeEntry = z.string().min(1).max(1_000);
const ScopeEntries = z.array(ScopeEntry).max(1_000);

export const ConnectorScope = z.strictObject({ include: ScopeEntries, exclude: ScopeEntries });
export type ConnectorScope = z.infer<typeof ConnectorScope>;

/** Minutes between two scheduled runs: 5 to 43,200 (30 days). */
export const ConnectorSchedule = z.strictObject({ everyMinutes: z.number().int().min(5).max(43_200) });

export const ConnectorAccess = z.strictObject({
  visibility: Visibility,
  /** With `members`: who, beside the owner. */
  memberIds: z.array(idSchema("user")).max(1_000).default([]),
  groupIds: z.array(idSchema("group")).max(1_000).default([]),
});
export type ConnectorAccess = z.infer<typeof ConnectorAccess>;

/** A connector as its owner and admins see it. */
export const Connector = z
  .object({
    id: ConnectorId,
    providerId: z.string(),
    name: z.string(),
    owner: z.object({ id: idSchema("user"), name: z.string() }),
    access: z.object({ visibility: Visibility, memberIds: z.array(z.string()), groupIds: z.array(z.string()) }),
    config: Config,
    scope: z.object({ include: z.array(z.string()), exclude: z.array(z.string()) }),
    accountId: z.string().nullable(),
    connectionId: z.string().nullable(),
    schedule: z.object({ everyMinutes: Count }).nullable(),
    state: ConnectorState,
    stateReason: z.string().nullable(),
    nextRunAt: Timestamp.nullable(),
    lastSync: z.object({ id: idSchema("sync"), state: SyncState, finishedAt: Timestamp.nullable() }).nullable(),
    /** Living items by state; `maskedSecrets` = tokens, keys and passwords that were taken out of them. */
    counts: z.object({
      indexed: Count,
      pending: Count,
      held: Count,
      unsearchable: Count,
      failed: Count,
      maskedSecrets: Count,
    }),
    aclCheckedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    hasKey: z.boolean(),
    keyPrefix: z.string().nullable(),
  })
  .openapi("Connector");
export type Connector = z.infer<typeof Connector>;

/** A connector as members see it who may read some of its items. */
export const ConnectorPublic = z
  .object({ id: ConnectorId, name: z.string(), providerId: z.string(), state: ConnectorState })
  .openapi("ConnectorPublic");
export type ConnectorPublic = z.infer<typeof ConnectorPublic>;

export const SyncCounts = z.object({
  seen: Count,
  upserted: Count,
  unchanged: Count,
  deleted: Count,
  skipped: Count,
  failed: Count,
  bytes: Count,
});

/** One run. What names an item that the caller may not read is null in it. */
export const Sync = z
  .object({
    id: idSchema("sync"),
    connectorId: ConnectorId,
    mode: SyncMode,
    trigger: z.enum(["manual", "schedule", "webhook", "watch", "retry"]),
    state: SyncState,
    attempt: Count,
    counts: SyncCounts,
    progress: z.object({ done: Count, total: Count.nullable(), note: z.string().nullable() }),
    resumeAt: Timestamp.nullable(),
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
    problem: SourceProblem.nullable(),
    /** A sample. */
    skips: z.array(
      z.object({
        externalId: z.string().nullable(),
        reason: z.string(),
        message: z.string().nullable(),
        retryable: z.boolean(),
      }),
    ),
  })
  .openapi("Sync");
export type Sync = z.infer<typeof Sync>;

export const SourceKind = z
  .object({
    providerId: z.string(),
    name: z.string(),
    kinds: z.array(ItemKind),
    auth: z.enum(["none", "credentials", "account", "connection", "key"]),
    /** JSON Schema of `config`. */
    configSchema: z.record(z.string(), z.unknown()),
    /** JSON Schema of `credentials`, for kinds that take any; every value is a secret. */
    credentialsSchema: z.record(z.string(), z.unknown()).optional(),
    acl: z.enum(["per_item", "container", "connector"]),
    capabilities: z.array(z.enum(["sync", "browse", "content", "push", "scope"])),
    available: z.boolean(),
    reason: z.string().optional(),
  })
  .openapi("SourceKind");
export type SourceKind = z.infer<typeof SourceKind>;

export const CreateConnectorBody = z.strictObject({
  providerId: ProviderId,
  name: Name,
  config: Config.default({}),
  scope: ConnectorScope.optional(),
  credentials: Credentials.optional(),
  accountId: idSchema("account").optional(),
  connectionId: idSchema("connection").optional(),
  access: ConnectorAccess,
  /** Every 30 minutes unless told; null = only when asked. */
  schedule: ConnectorSchedule.nullable().optional(),
});
export type CreateConnectorBody = z.infer<typeof CreateConnectorBody>;

export const PatchConnectorBody = z.strictObject({
  name: Name.optional(),
  config: Config.optional(),
  access: ConnectorAccess.optional(),
  schedule: ConnectorSchedule.nullable().optional(),
  credentials: Credentials.optional(),
  accountId: idSchema("account").optional(),
  connectionId: idSchema("connection").optional(),
});
export type PatchConnectorBody = z.infer<typeof PatchConnectorBody>;

export const ConnectorListQuery = z.strictObject({
  providerId: ProviderId.optional(),
  state: ConnectorState.optional(),
  /** A part of the name, without regard to case. */
  q: z.string().min(1).max(200).optional(),
  limit: PageLimit,
  cursor: PageCursor.optional(),
});
export type ConnectorListQuery = z.infer<typeof ConnectorListQuery>;

export const BrowseBody = z.strictObject({
  providerId: ProviderId,
  config: Config.default({}),
  credentials: Credentials.optional(),
  accountId: idSchema("account").optional(),
  connectionId: idSchema("connection").optional(),
  parent: z.string().max(4_000).nullable().optional(),
  query: z.string().max(200).optional(),
  cursor: z.string().max(4_000).optional(),
});
export type BrowseBody = z.infer<typeof BrowseBody>;

export const BrowseAnswer = z.object({
  nodes: z.array(
    z.object({
      id: z.string(),
      parent: z.string().nullable(),
      title: z.string(),
      kind: z.string(),
      selectable: z.boolean(),
      expandable: z.boolean(),
      count: Count.optional(),
    }),
  ),
  nextCursor: z.string().nullable(),
});
export type BrowseAnswer = z.infer<typeof BrowseAnswer>;

export const RequestSyncBody = z
  .strictObject({
    mode: SyncMode.exclude(["identities"]).optional(),
    /** External ids, with mode `items`. */
    items: z.array(z.string().min(1).max(4_000)).min(1).max(1_000).optional(),
  })
  .refine((value) => value.mode !== "items" || value.items !== undefined, {
    path: ["items"],
    message: 'Mode "items" needs the items',
  });
export type RequestSyncBody = z.infer<typeof RequestSyncBody>;

/** What a change of scope does. `null` = not known before the source is asked. */
export const ScopePlan = z.object({
  added: Count.nullable(),
  removed: Count.nullable(),
  rechecked: Count,
  estimatedCalls: Count.nullable(),
});
export type ScopePlan = z.infer<typeof ScopePlan>;

export const HeldRemoval = z.object({
  kbId: z.string(),
  heldAt: Timestamp,
  syncId: z.string().nullable(),
  /** Null where the caller may not read the item. */
  externalId: z.string().nullable(),
  title: z.string().nullable(),
});
export type HeldRemoval = z.infer<typeof HeldRemoval>;

export const RemovalsBody = z.strictObject({
  /** All of them unless told. */
  kbIds: z.array(idSchema("item")).min(1).max(1_000).optional(),
});
export type RemovalsBody = z.infer<typeof RemovalsBody>;

/** One line of the answer to a push, in the order of the lines sent. */
export const PushResult = z
  .object({
    line: Count,
    externalId: z.string().nullable(),
    result: z.enum(["upserted", "unchanged", "removed", "held", "absent", "failed", "acl_unknown", "error"]),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    /** What of it was left out, and why there is no text. */
    notes: z.array(z.string()).optional(),
  })
  .openapi("PushResult");
export type PushResult = z.infer<typeof PushResult>;

const ById = z.object({ id: ConnectorId });
const BySync = z.object({ id: ConnectorId, syncId: idSchema("sync") });
const Page = z.strictObject({ limit: PageLimit, cursor: PageCursor.optional() });
const One = z.object({ connector: Connector });
const OneSync = z.object({ sync: Sync });
const ConnectorList = z.object({
  connectors: z.array(z.union([Connector, ConnectorPublic])),
  nextCursor: z.string().nullable(),
});

export const connectorRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/connectors",
    summary: "Connectors: mine, those with items I may see; admins: all",
    request: { query: ConnectorListQuery },
    responses: { 200: answer("Oldest first", ConnectorList), default: problemAnswer },
  }),
  create: createRoute({
    method: "post",
    path: "/api/connectors",
    summary: "Create a connector; its source is checked first",
    request: { body: body(CreateConnectorBody) },
    responses: {
      201: answer(
        "The connector, its first sync (none for push), and the key of a push connector, shown this once",
        z.object({ connector: Connector, sync: Sync.nullable(), key: z.string().optional() }),
      ),
      default: problemAnswer,
    },
  }),
  mine: createRoute({
    method: "get",
    path: "/api/connectors/mine",
    summary: "Connectors I own",
    request: { query: ConnectorListQuery },
    responses: {
      200: answer("Oldest first", z.object({ connectors: z.array(Connector), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  sources: createRoute({
    method: "get",
    path: "/api/connectors/sources",
    summary: "Kinds of apps that can be connected here",
    responses: { 200: answer("By name", z.object({ sources: z.array(SourceKind) })), default: problemAnswer },
  }),
  progress: createRoute({
    method: "get",
    path: "/api/connectors/progress",
    summary: "Runs that are not over, and the last run of each of my connectors",
    responses: { 200: answer("Open runs first", z.object({ syncs: z.array(Sync) })), default: problemAnswer },
  }),
  browse: createRoute({
    method: "post",
    path: "/api/connectors/browse",
    summary: "What could be chosen in a source; stores nothing",
    request: { body: body(BrowseBody) },
    responses: { 200: answer("The nodes below the parent", BrowseAnswer), default: problemAnswer },
  }),
  get: createRoute({
    method: "get",
    path: "/api/connectors/{id}",
    summary: "One connector, for its owner and admins",
    request: { params: ById },
    responses: { 200: answer("The connector", One), default: problemAnswer },
  }),
  update: createRoute({
    method: "patch",
    path: "/api/connectors/{id}",
    summary: "Change name, config, access or schedule",
    request: { params: ById, body: body(PatchConnectorBody) },
    responses: { 200: answer("The connector as it is now", One), default: problemAnswer },
  }),
  remove: createRoute({
    method: "delete",
    path: "/api/connectors/{id}",
    summary: "Delete: hidden at once, purged in the background, keys revoked",
    request: { params: ById },
    responses: { 202: answer("The connector, going", One), default: problemAnswer },
  }),
  changeScope: createRoute({
    method: "patch",
    path: "/api/connectors/{id}/scope",
    summary: "Change what is included",
    request: {
      params: ById,
      query: z.strictObject({ dryRun: z.enum(["true", "false"]).default("false") }),
      body: body(ConnectorScope),
    },
    responses: {
      202: answer(
        "The connector, the run that walks the added part (null on a dry run), and what changes",
        z.object({ connector: Connector, sync: Sync.nullable(), plan: ScopePlan }),
      ),
      default: problemAnswer,
    },
  }),
  requestSync: createRoute({
    method: "post",
    path: "/api/connectors/{id}/syncs",
    summary: "Ask for a run; joins the one that is queued",
    request: { params: ById, body: json(RequestSyncBody) },
    responses: { 202: answer("The queued run", OneSync), default: problemAnswer },
  }),
  listSyncs: createRoute({
    method: "get",
    path: "/api/connectors/{id}/syncs",
    summary: "Runs of a connector",
    request: { params: ById, query: Page },
    responses: {
      200: answer("Newest first", z.object({ syncs: z.array(Sync), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  getSync: createRoute({
    method: "get",
    path: "/api/connectors/{id}/syncs/{syncId}",
    summary: "One run",
    request: { params: BySync },
    responses: { 200: answer("The run", OneSync), default: problemAnswer },
  }),
  cancelSync: createRoute({
    method: "post",
    path: "/api/connectors/{id}/syncs/{syncId}/cancel",
    summary: "End a run; what it stored stays",
    request: { params: BySync },
    responses: { 202: answer("The run, ending or ended", OneSync), default: problemAnswer },
  }),
  pause: createRoute({
    method: "post",
    path: "/api/connectors/{id}/pause",
    summary: "Stop the schedule and the run under way; items stay visible",
    request: { params: ById },
    responses: { 200: answer("The connector", One), default: problemAnswer },
  }),
  resume: createRoute({
    method: "post",
    path: "/api/connectors/{id}/resume",
    summary: "Go on after a pause or an error",
    request: { params: ById },
    responses: { 200: answer("The connector", One), default: problemAnswer },
  }),
  listRemovals: createRoute({
    method: "get",
    path: "/api/connectors/{id}/removals",
    summary: "Removals that wait for approval",
    request: { params: ById, query: Page },
    responses: {
      200: answer("By kbId", z.object({ removals: z.array(HeldRemoval), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  approveRemovals: createRoute({
    method: "post",
    path: "/api/connectors/{id}/removals/approve",
    summary: "Remove what was held",
    request: { params: ById, body: json(RemovalsBody) },
    responses: { 200: answer("How many", z.object({ removed: Count })), default: problemAnswer },
  }),
  rejectRemovals: createRoute({
    method: "post",
    path: "/api/connectors/{id}/removals/reject",
    summary: "Keep what was held",
    request: { params: ById, body: json(RemovalsBody) },
    responses: { 200: answer("How many", z.object({ kept: Count })), default: problemAnswer },
  }),
  rotateKey: createRoute({
    method: "post",
    path: "/api/connectors/{id}/rotate-key",
    summary: "A new key for a push connector, shown this once",
    request: {
      params: ById,
      body: json(z.strictObject({ overlapSeconds: z.number().int().min(0).max(86_400).default(600) })),
    },
    responses: { 200: answer("The new key", z.object({ key: z.string() })), default: problemAnswer },
  }),
};
