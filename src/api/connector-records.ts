/** Connectors, their runs and pending removals in REST form. `connectors.ts` has the routes. */
import { PageQuery } from "#api/common.ts";
import { Count, idSchema, ItemKind, MemberRef, nextCursor, SourceProblem, Timestamp } from "./common.ts";
import { ConnectorAct } from "./connector-acts.ts";
import { Opening } from "./openings.ts";
import { z } from "./route.ts";
import { MAX_SCOPE_TITLE_CHARS } from "./scope-title.ts";
import { PersonName } from "./session.ts";

export const ConnectorState = z.enum([
  "pending_auth",
  "active",
  "paused",
  "needs_reauth",
  "needs_owner",
  "error",
  "deleting",
]);
export const Visibility = z.enum(["private", "members", "workspace", "source"]);
export const SyncMode = z.enum(["full", "incremental", "access", "identities", "items"]);
/** `reader`: kb rereads items that were read by an older reader. */
export const SyncTrigger = z.enum(["manual", "schedule", "webhook", "watch", "retry", "reader"]);
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

export const ConnectorId = idSchema("connector");
const ProviderId = z.string().min(1).max(64);
const Config = z.record(z.string(), z.unknown());
const Credentials = z.record(z.string().max(64), z.string().max(16_384));
const ScopeEntry = z.string().min(1).max(1_000);
const ScopeEntries = z.array(ScopeEntry).max(1_000);

export const ConnectorScope = z.strictObject({
  include: ScopeEntries,
  exclude: ScopeEntries,
  /** Names of entries as the owner saw them when choosing; only for display. */
  titles: z.record(ScopeEntry, z.string().min(1).max(MAX_SCOPE_TITLE_CHARS)).optional(),
});
export type ConnectorScope = z.infer<typeof ConnectorScope>;

/** Minutes between two scheduled runs: 5 to 43,200 (30 days). */
export const ConnectorSchedule = z.strictObject({ everyMinutes: z.number().int().min(5).max(43_200) });

export const ConnectorAccess = z.strictObject({
  visibility: Visibility,
  /** With `members`: the members who have access besides the owner. */
  memberIds: z.array(idSchema("user")).max(1_000).default([]),
  groupIds: z.array(idSchema("group")).max(1_000).default([]),
});
export type ConnectorAccess = z.infer<typeof ConnectorAccess>;

/** A connector's current activity: `stopped` when its `state` requires a person. */
export const ConnectorActivity = z
  .discriminatedUnion("type", [
    /** Nothing runs until `nextRunAt`; null = until a person starts a run. */
    z.object({ type: z.literal("idle"), nextRunAt: Timestamp.nullable() }),
    /** Waiting for a worker since `since`, behind this many other runs. */
    z.object({ type: z.literal("queued"), since: Timestamp, before: Count }),
    z.object({
      type: z.literal("syncing"),
      mode: SyncMode,
      since: Timestamp,
      done: Count,
      /** Null = unknown. */
      total: Count.nullable(),
    }),
    /** The sync pauses and continues by itself at `until`. */
    z.object({ type: z.literal("waiting"), until: Timestamp, reason: z.union([SourceProblem, z.null()]) }),
    /** The connector's last syncs failed, this many in a row. A null time = it is retried only when a person requests it. */
    z.object({
      type: z.literal("failing"),
      failures: Count,
      nextTryAt: Timestamp.nullable(),
      reason: z.union([SourceProblem, z.null()]),
    }),
    /** Nothing runs until its `state` changes. */
    z.object({ type: z.literal("stopped") }),
  ])
  .openapi("ConnectorActivity");
export type ConnectorActivity = z.infer<typeof ConnectorActivity>;

/** A connector as its owner and admins see it. */
export const Connector = z
  .object({
    id: ConnectorId,
    providerId: z.string(),
    name: z.string(),
    owner: MemberRef,
    access: z.object({ visibility: Visibility, memberIds: z.array(z.string()), groupIds: z.array(z.string()) }),
    config: Config,
    scope: z.object({
      include: z.array(z.string()),
      exclude: z.array(z.string()),
      titles: z.record(z.string(), z.string()).optional(),
    }),
    accountId: z.string().nullable(),
    connectionId: z.string().nullable(),
    schedule: z.object({ everyMinutes: Count }).nullable(),
    state: ConnectorState,
    stateReason: z.string().nullable(),
    activity: ConnectorActivity,
    /** Items are pushed to the connector with its key; it reads no source. */
    isPushed: z.boolean(),
    nextRunAt: Timestamp.nullable(),
    lastSync: z.object({ id: idSchema("sync"), state: SyncState, finishedAt: Timestamp.nullable() }).nullable(),
    /**
     * Items that aren't deleted, by state. `maskedSecrets` = tokens, keys and passwords that were masked in them. `parentMissing` = children that no
     * one may read because of their parents; `awaitingPush` = children from before a child could have its own access: no one may read them until they
     * are sent again.
     */
    counts: z.object({
      indexed: Count,
      pending: Count,
      held: Count,
      unsearchable: Count,
      failed: Count,
      maskedSecrets: Count,
      parentMissing: Count,
      awaitingPush: Count,
      /** Items that no one may read: the source refused to show them, or hasn't reported who may read them for too long. */
      aclStale: Count,
      /** Items whose content an older reader has read or failed to read. Pushed items have to be pushed again. */
      toReadAgain: Count,
    }),
    aclCheckedAt: Timestamp.nullable(),
    /** Since when no one may read the connector's items, because it is unknown who may; null = it is known. */
    aclStale: z
      .object({
        since: Timestamp,
        cause: z.enum(["refused", "not_checked", "clock_went_back"]),
        nextTryAt: Timestamp.nullable(),
      })
      .nullable(),
    /**
     * Only if its source mirrors permissions and no member can read any indexed item: the number of users that the source named, and how many of them
     * are linked to members. For a private connector only its owner gets this.
     */
    readByNobody: z.object({ users: Count, linked: Count }).optional(),
    /**
     * Present only if kb watches the source for changes between syncs and currently can't: since when, when it tries again, and why. Scheduled syncs
     * continue.
     */
    notWatched: z.object({ since: Timestamp, nextTryAt: Timestamp, problem: SourceProblem }).optional(),
    createdAt: Timestamp,
    /** The caller's permitted actions on it. */
    allowed: z.array(ConnectorAct),
    hasKey: z.boolean(),
    keyPrefix: z.string().nullable(),
    /**
     * The age of its data about groups, if its source reports groups. Present only when a single connector is shown. `oldestGroupAt` = when the least
     * recently read group was read; `requests` = number sent by its last run of groups and users.
     */
    freshness: z.object({ oldestGroupAt: Timestamp.nullable(), requests: Count.nullable() }).optional(),
    /**
     * Changes by others that gave more people access in the last 90 days, newest first, at most 20. Present only when a single connector is shown to
     * its owner.
     */
    openedByOthers: z.array(Opening).optional(),
  })
  .openapi("Connector");
export type Connector = z.infer<typeof Connector>;

/** A connector as seen by members who may read some of its items. */
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
  /** Number of skipped items by reason; absent = none, or the run is from before they were counted. */
  reasons: z.record(z.string(), Count).optional(),
  failed: Count,
  bytes: Count,
  /** Children that no one may read because of their parents: a parent doesn't exist, or no one may read the parent. */
  parentMissing: Count,
  /** Requests to the provider; only for a run of groups and users. */
  requests: Count.optional(),
  /** Failures that look like a bug in kb; the server's log contains the details. */
  faults: Count.optional(),
  /** Dates outside the years 1 to 9999: the items are indexed without them, and their field `datesLeftOut` lists those dates. */
  datesLeftOut: Count.optional(),
});

/** The result of reading people and groups before a sync. */
export const PeopleFirstState = z.enum(["waiting", "read", "partial", "failed"]);

/** One run. Names of items that the caller may not read are null. */
export const Sync = z
  .object({
    id: idSchema("sync"),
    connectorId: ConnectorId,
    mode: SyncMode,
    trigger: SyncTrigger,
    state: SyncState,
    attempt: Count,
    counts: SyncCounts,
    progress: z.object({ done: Count, total: Count.nullable(), note: z.string().nullable() }),
    resumeAt: Timestamp.nullable(),
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp.nullable(),
    problem: z.union([SourceProblem, z.null()]),
    /**
     * How people and groups were read before a manually requested sync; null if they weren't. `waiting` = the sync begins when it has ended;
     * `partial` = some groups couldn't be read, and stay as they were; `failed` = permissions are as old as before, and `problem` says why.
     */
    people: z.union([
      z.object({ syncId: idSchema("sync"), state: PeopleFirstState, problem: z.union([SourceProblem, z.null()]) }),
      z.null(),
    ]),
    /**
     * A sample of skipped items. Names and messages are present for items that the caller may read, and for the connector's owner if the source has
     * no permissions of its own; otherwise they are null, and `counts.reasons` has the numbers.
     */
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
    /** All ways to sign in. `auth` is the way that requires the most from a person. */
    authTypes: z.array(z.enum(["none", "credentials", "account", "connection", "key"])),
    /** JSON Schema of `config`. */
    configSchema: z.record(z.string(), z.unknown()),
    /** JSON Schema of `credentials`, for kinds that have any. Hide the input of properties with the format `password`. */
    credentialsSchema: z.record(z.string(), z.unknown()).optional(),
    acl: z.enum(["per_item", "container", "connector"]),
    /** True if only the connector's owner finds its items, even if it is shared with others. */
    isForOwner: z.boolean().optional(),
    capabilities: z.array(z.enum(["sync", "browse", "content", "push", "scope", "webhook"])),
    available: z.boolean(),
    reason: z.string().optional(),
  })
  .openapi("SourceKind");
export type SourceKind = z.infer<typeof SourceKind>;

export const CreateConnectorBody = z.strictObject({
  providerId: ProviderId,
  name: PersonName,
  config: Config.default({}),
  scope: ConnectorScope.optional(),
  credentials: Credentials.optional(),
  accountId: idSchema("account").optional(),
  connectionId: idSchema("connection").optional(),
  access: ConnectorAccess,
  /** Default: every 30 minutes; null = only on request. */
  schedule: ConnectorSchedule.nullable().optional(),
});
export type CreateConnectorBody = z.infer<typeof CreateConnectorBody>;

export const PatchConnectorBody = z.strictObject({
  name: PersonName.optional(),
  config: Config.optional(),
  access: ConnectorAccess.optional(),
  schedule: ConnectorSchedule.nullable().optional(),
  credentials: Credentials.optional(),
  accountId: idSchema("account").optional(),
  connectionId: idSchema("connection").optional(),
  /** Makes you the owner of a connector whose owner left. Required only if there are no credentials and no account. */
  takeOver: z.literal(true).optional(),
});
export type PatchConnectorBody = z.infer<typeof PatchConnectorBody>;

export const ConnectorListQuery = z.strictObject({
  providerId: ProviderId.optional(),
  state: ConnectorState.optional(),
  /** Part of the name; case-insensitive. */
  q: z.string().min(1).max(200).optional(),
  ...PageQuery.shape,
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

/** A position in a connector's source at which to browse. */
export const BrowseAt = BrowseBody.pick({ parent: true, query: true, cursor: true });
export type BrowseAt = z.infer<typeof BrowseAt>;

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
  nextCursor,
});
export type BrowseAnswer = z.infer<typeof BrowseAnswer>;

export const RequestSyncBody = z
  .strictObject({
    /** `identities` reads only people and groups. */
    mode: SyncMode.exclude(["access"]).optional(),
    /** External ids; for mode `items`. */
    items: z.array(z.string().min(1).max(4_000)).min(1).max(1_000).optional(),
  })
  .refine((value) => value.mode !== "identities" || value.items === undefined, {
    path: ["items"],
    message: 'Mode "identities" reads no items',
  })
  .refine((value) => value.mode !== "items" || value.items !== undefined, {
    path: ["items"],
    message: 'Mode "items" needs the items',
  });
export type RequestSyncBody = z.infer<typeof RequestSyncBody>;

/** The effect of a change of scope. `null` = unknown until the source is queried. */
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
  /** Null if the caller may not read the item. */
  externalId: z.string().nullable(),
  title: z.string().nullable(),
});
export type HeldRemoval = z.infer<typeof HeldRemoval>;

/** An item that was removed less than 7 days ago. It has no name: removed content is shown to no one. */
export const RemovedItem = z.object({ kbId: z.string(), removedAt: Timestamp });
export type RemovedItem = z.infer<typeof RemovedItem>;

export const RemovalsBody = z.strictObject({
  /** Ids of items; default: all. */
  kbIds: z.array(idSchema("item")).min(1).max(1_000).optional(),
});

/** One line of a push's answer, in the order of the lines sent. */
export const PushResult = z
  .object({
    line: Count,
    externalId: z.string().nullable(),
    result: z.enum(["upserted", "unchanged", "removed", "held", "absent", "failed", "acl_unknown", "error"]),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    /** Which parts were omitted, and why there is no text. */
    notes: z.array(z.string()).optional(),
  })
  .openapi("PushResult");
export type PushResult = z.infer<typeof PushResult>;
