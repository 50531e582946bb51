/** Connectors, their runs and pending removals. Pushing: `push.ts`. Files and search: `files.ts`, `search.ts`. */
import { byId, Count, idSchema, nextCursor, PageQuery, SourceProblem, Timestamp } from "./common.ts";
import {
  BrowseAnswer,
  BrowseAt,
  BrowseBody,
  Connector,
  ConnectorListQuery,
  ConnectorPublic,
  ConnectorScope,
  CreateConnectorBody,
  HeldRemoval,
  PatchConnectorBody,
  RemovalsBody,
  RemovedItem,
  RequestSyncBody,
  ScopePlan,
  SourceKind,
  Sync,
} from "./connector-records.ts";
import { answer, del, get, json, patch, post, z } from "./route.ts";

const ById = byId("connector");
const BySync = { ...ById, syncId: idSchema("sync") };
const One = z.object({ connector: Connector });
/** The source's warnings about settings that are valid; absent if there are none. */
const Warnings = z.array(z.string()).optional();
const WebhookAddress = z.object({
  url: z.string().describe("Where the app sends its notifications"),
  secretCreatedAt: Timestamp.nullable().describe("null = no secret yet, so that every notification is refused"),
  secretFrom: z
    .enum(["kb", "app"])
    .describe(
      "Who creates the secret. app = the app sends its secret to the address once, and you confirm it in the app",
    ),
  offered: z
    .object({
      until: Timestamp.describe("The time until which kb waits for the app's secret and shows it"),
      secret: z
        .string()
        .nullable()
        .describe("The secret that the app sent, which you confirm in the app; null = none yet"),
    })
    .nullable()
    .describe("The secret that kb waits for; null = kb accepts no secret now"),
  subscription: z
    .object({
      expiresAt: Timestamp.nullable().describe(
        "When the subscription expires; kb renews it before then. null = no expiry, or no subscription",
      ),
      problem: SourceProblem.nullable().describe("Why the last attempt to subscribe failed; kb tries again"),
    })
    .nullable()
    .describe("kb's own subscription at the app; null = none, so you add the address in the app"),
});
const OneSync = z.object({ sync: Sync });

/** Errors in a connector's settings that its source or the workspace reports when a connector is created or changed. */
const REFUSED_SETTINGS = [
  "connector_check_failed",
  "root_not_allowed",
  "address_not_allowed",
  "source_not_found",
  "visibility_not_supported",
  "unknown_member",
  "unknown_group",
] as const;

export const connectorRoutes = {
  list: get("/api/connectors", "List your connectors and those with items you can see; admins see all", {
    query: ConnectorListQuery,
    200: answer("Oldest first", {
      connectors: z.array(z.union([Connector, ConnectorPublic])),
      nextCursor,
    }),
  }),
  create: post("/api/connectors", "Create a connector; its source is checked first", {
    body: CreateConnectorBody,
    201: answer(
      "The connector, its first sync (null for push), and the key of a push connector, which is shown only once",
      {
        connector: Connector,
        sync: z.union([Sync, z.null()]),
        warnings: Warnings,
        key: z.string().optional(),
      },
    ),
    problems: [
      "provider_unknown",
      "provider_unavailable",
      "connector_config_invalid",
      "connector_scope_invalid",
      ...REFUSED_SETTINGS,
      "quota_reached",
      "source_unavailable",
      "source_unauthorized",
      "source_rate_limited",
    ],
  }),
  mine: get("/api/connectors/mine", "List the connectors you own", {
    query: ConnectorListQuery,
    200: answer("Oldest first", { connectors: z.array(Connector), nextCursor }),
  }),
  sources: get("/api/connectors/sources", "List the kinds of apps you can connect", {
    200: answer("By name", { sources: z.array(SourceKind) }),
  }),
  progress: get("/api/connectors/progress", "List running syncs, and the last sync of each of your connectors", {
    description:
      "With `Accept: text/event-stream`, the response is a stream: an event `syncs` with this JSON at once and after every " +
      "change. A stream ends after 15 minutes, and when you sign out or the token is revoked; `EventSource` opens the next one.",
    200: {
      description: "Running syncs first",
      content: {
        "application/json": { schema: z.object({ syncs: z.array(Sync) }) },
        "text/event-stream": { schema: z.string() },
      },
    },
    problems: ["rate_limited"],
  }),
  browse: post("/api/connectors/browse", "Browse what a source holds before you connect it; stores nothing", {
    body: BrowseBody,
    200: answer("The nodes below the parent", BrowseAnswer),
    problems: [
      "provider_unknown",
      "provider_unavailable",
      "connector_config_invalid",
      "connector_check_failed",
      "root_not_allowed",
      "address_not_allowed",
      "source_not_found",
      "source_unavailable",
      "source_unauthorized",
      "source_rate_limited",
    ],
  }),
  get: get("/api/connectors/{id}", "Get a connector (its owner and admins only)", {
    params: ById,
    200: answer("The connector", One),
  }),
  update: patch("/api/connectors/{id}", "Update a connector's name, config, access or schedule", {
    params: ById,
    body: PatchConnectorBody,
    200: answer("The updated connector", { connector: Connector, warnings: Warnings }),
    problems: [
      "connector_state_conflict",
      "credential_required",
      "provider_unavailable",
      "connector_config_invalid",
      ...REFUSED_SETTINGS,
      "source_unavailable",
      "source_unauthorized",
      "source_rate_limited",
    ],
  }),
  remove: del(
    "/api/connectors/{id}",
    "Delete a connector: its items are hidden at once and purged in the background, its keys are revoked",
    {
      params: ById,
      202: answer("The connector that is being deleted", One),
      problems: ["connector_state_conflict"],
    },
  ),
  changeScope: patch("/api/connectors/{id}/scope", "Change what a connector includes", {
    params: ById,
    query: z.strictObject({ dryRun: z.enum(["true", "false"]).default("false") }),
    body: ConnectorScope,
    202: answer("The connector, the sync that reads what was added (null on a dry run), and what changes", {
      connector: Connector,
      sync: z.union([Sync, z.null()]),
      plan: ScopePlan,
    }),
    problems: [
      "connector_state_conflict",
      "connector_scope_invalid",
      "provider_unavailable",
      "source_not_found",
      "source_unavailable",
      "source_unauthorized",
      "source_rate_limited",
    ],
  }),
  browseOwn: post("/api/connectors/{id}/browse", "Browse what the source of your connector holds", {
    params: ById,
    body: BrowseAt,
    200: answer("The nodes below the parent", BrowseAnswer),
    problems: [
      "provider_unavailable",
      "connector_state_conflict",
      "source_not_found",
      "source_unavailable",
      "source_unauthorized",
      "source_rate_limited",
    ],
  }),
  requestSync: post("/api/connectors/{id}/syncs", "Start a sync, or join the queued one", {
    params: ById,
    body: json(RequestSyncBody),
    202: answer("The queued sync", OneSync),
    problems: ["connector_state_conflict", "provider_unavailable"],
  }),
  listSyncs: get("/api/connectors/{id}/syncs", "List a connector's syncs", {
    params: ById,
    query: PageQuery,
    200: answer("Newest first", { syncs: z.array(Sync), nextCursor }),
  }),
  getSync: get("/api/connectors/{id}/syncs/{syncId}", "One run", {
    params: BySync,
    200: answer("The run", OneSync),
  }),
  cancelSync: post("/api/connectors/{id}/syncs/{syncId}/cancel", "Cancel a sync; what it stored stays", {
    params: BySync,
    202: answer("The sync, which is ending or has ended", OneSync),
    problems: ["sync_not_running"],
  }),
  pause: post("/api/connectors/{id}/pause", "Pause the schedule and cancel the running sync; items stay visible", {
    params: ById,
    200: answer("The connector", One),
    problems: ["connector_state_conflict"],
  }),
  resume: post("/api/connectors/{id}/resume", "Resume after a pause or an error", {
    params: ById,
    200: answer("The connector", One),
    problems: ["connector_state_conflict", "credential_required", "provider_unavailable"],
  }),
  listRemovals: get("/api/connectors/{id}/removals", "List removals that wait for approval", {
    params: ById,
    query: PageQuery,
    200: answer("By kbId", { removals: z.array(HeldRemoval), nextCursor }),
  }),
  approveRemovals: post("/api/connectors/{id}/removals/approve", "Approve held removals", {
    params: ById,
    body: json(RemovalsBody),
    200: answer("How many", { removed: Count }),
    problems: ["connector_state_conflict"],
  }),
  rejectRemovals: post("/api/connectors/{id}/removals/reject", "Reject held removals", {
    params: ById,
    body: json(RemovalsBody),
    200: answer("How many", { kept: Count }),
    problems: ["connector_state_conflict"],
  }),
  listRemoved: get(
    "/api/connectors/{id}/removed",
    "List items that were removed in the last 7 days and can be restored",
    {
      params: ById,
      query: PageQuery,
      200: answer("By kbId", { removed: z.array(RemovedItem), nextCursor }),
    },
  ),
  restoreFile: post("/api/connectors/files/{fileId}/restore", "Restore an item that was removed in the last 7 days", {
    description:
      "Only the connector's owner and admins can do this. No one can read the item until its source reports who can: a sync reads it again " +
      "as soon as the connector runs. If the source no longer has the item, it is removed again. An item of a push connector " +
      "waits until it is pushed again, and `sync` is null.",
    params: { fileId: idSchema("item") },
    202: answer("The restored item", { kbId: z.string(), connectorId: z.string(), sync: Sync.nullable() }),
    problems: ["connector_state_conflict"],
  }),
  rotateKey: post("/api/connectors/{id}/rotate-key", "Create a new key for a push connector; it is shown only once", {
    description:
      "Only the connector's owner gets the key. An admin who rotates someone else's key revokes it at once and gets " +
      "`key: null`; the owner creates the new one. If the owner left the workspace, the workspace's owner takes the connector over.",
    params: ById,
    body: json(z.strictObject({ overlapSeconds: z.number().int().min(0).max(86_400).default(600) })),
    200: answer("The new key", { key: z.string().nullable() }),
    problems: ["connector_state_conflict"],
  }),
  webhook: get("/api/connectors/{id}/webhook", "Get the address at which the app can notify kb of changes", {
    params: ById,
    200: answer("The address", { webhook: WebhookAddress }),
    problems: ["connector_state_conflict"],
  }),
  rotateWebhook: post(
    "/api/connectors/{id}/webhook",
    "Create a secret for a connector's webhook; it is shown only once, and the previous one stops working",
    {
      description:
        "If the app creates the secret (`secretFrom: app`), the response has `secret: null`: kb accepts the next secret that the app sends to the " +
        "address within an hour, and shows it in `webhook.offered`, so that you can confirm it in the app.",
      params: ById,
      200: answer("The address and the secret", { webhook: WebhookAddress, secret: z.string().nullable() }),
      problems: ["connector_state_conflict"],
    },
  ),
};
