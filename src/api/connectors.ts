/** Connectors, their runs and pending removals. Pushing: `push.ts`. Files and search: `files.ts`, `search.ts`. */
import { idSchema, PageCursor, PageLimit, SourceProblem, Timestamp } from "./common.ts";
import {
  BrowseAnswer,
  BrowseAt,
  BrowseBody,
  Connector,
  ConnectorId,
  ConnectorListQuery,
  ConnectorPublic,
  ConnectorScope,
  Count,
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
import { answer, body, createRoute, json, problemAnswer, problems, z } from "./route.ts";

const ById = z.object({ id: ConnectorId });
const BySync = z.object({ id: ConnectorId, syncId: idSchema("sync") });
const Page = z.strictObject({ limit: PageLimit, cursor: PageCursor.optional() });
const One = z.object({ connector: Connector });
/** The source's warnings about settings that work; absent if there are none. */
const Warnings = z.array(z.string()).optional();
const WebhookAddress = z.object({
  url: z.string().describe("Where the app sends its notifications"),
  secretCreatedAt: Timestamp.nullable().describe("null = no secret yet, so that every notification is refused"),
  secretFrom: z
    .enum(["kb", "app"])
    .describe("Who makes the secret. app = the app sends it to the address once, and you confirm it there"),
  offered: z
    .object({
      until: Timestamp.describe("kb waits for the app's secret, and shows it, until this time"),
      secret: z.string().nullable().describe("What the app sent, for you to confirm there; null = nothing yet"),
    })
    .nullable()
    .describe("The secret that kb waits for; null = kb accepts none"),
  subscription: z
    .object({
      expiresAt: Timestamp.nullable().describe("kb renews it before then. null = it doesn't expire, or doesn't exist"),
      problem: SourceProblem.nullable().describe("Why the last try to subscribe failed; kb tries again"),
    })
    .nullable()
    .describe("What kb subscribed to at the app by itself; null = nothing, so you add the address there"),
});
const OneSync = z.object({ sync: Sync });
const ConnectorList = z.object({
  connectors: z.array(z.union([Connector, ConnectorPublic])),
  nextCursor: z.string().nullable(),
});

/** Errors in a connector's settings, from its source or the workspace, on creating and on changing one. */
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
  list: createRoute({
    method: "get",
    path: "/api/connectors",
    summary: "List your connectors and those with items you can see; admins see all",
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
        "The connector, its first sync (null for push), and the key of a push connector, which is shown only once",
        z.object({
          connector: Connector,
          sync: z.union([Sync, z.null()]),
          warnings: Warnings,
          key: z.string().optional(),
        }),
      ),
      default: problems(
        "provider_unknown",
        "provider_unavailable",
        "connector_config_invalid",
        "connector_scope_invalid",
        ...REFUSED_SETTINGS,
        "quota_reached",
        "source_unavailable",
        "source_unauthorized",
        "source_rate_limited",
      ),
    },
  }),
  mine: createRoute({
    method: "get",
    path: "/api/connectors/mine",
    summary: "List the connectors you own",
    request: { query: ConnectorListQuery },
    responses: {
      200: answer("Oldest first", z.object({ connectors: z.array(Connector), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  sources: createRoute({
    method: "get",
    path: "/api/connectors/sources",
    summary: "List the kinds of apps you can connect",
    responses: { 200: answer("By name", z.object({ sources: z.array(SourceKind) })), default: problemAnswer },
  }),
  progress: createRoute({
    method: "get",
    path: "/api/connectors/progress",
    summary: "List running syncs, and the last sync of each of your connectors",
    description:
      "With `Accept: text/event-stream`, the answer is a stream: an event `syncs` with this JSON at once and after every " +
      "change. A stream ends after 15 minutes, and when you sign out or the token is revoked; `EventSource` opens the next one.",
    responses: {
      200: {
        description: "Running syncs first",
        content: {
          "application/json": { schema: z.object({ syncs: z.array(Sync) }) },
          "text/event-stream": { schema: z.string() },
        },
      },
      default: problems("rate_limited"),
    },
  }),
  browse: createRoute({
    method: "post",
    path: "/api/connectors/browse",
    summary: "Browse what a source holds before you connect it; stores nothing",
    request: { body: body(BrowseBody) },
    responses: {
      200: answer("The nodes below the parent", BrowseAnswer),
      default: problems(
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
      ),
    },
  }),
  get: createRoute({
    method: "get",
    path: "/api/connectors/{id}",
    summary: "Get a connector (owner and admins)",
    request: { params: ById },
    responses: { 200: answer("The connector", One), default: problemAnswer },
  }),
  update: createRoute({
    method: "patch",
    path: "/api/connectors/{id}",
    summary: "Update a connector's name, config, access or schedule",
    request: { params: ById, body: body(PatchConnectorBody) },
    responses: {
      200: answer("The updated connector", z.object({ connector: Connector, warnings: Warnings })),
      default: problems(
        "connector_state_conflict",
        "credential_required",
        "provider_unavailable",
        "connector_config_invalid",
        ...REFUSED_SETTINGS,
        "source_unavailable",
        "source_unauthorized",
        "source_rate_limited",
      ),
    },
  }),
  remove: createRoute({
    method: "delete",
    path: "/api/connectors/{id}",
    summary: "Delete a connector: its items are hidden at once and purged in the background, its keys are revoked",
    request: { params: ById },
    responses: {
      202: answer("The connector that is being deleted", One),
      default: problems("connector_state_conflict"),
    },
  }),
  changeScope: createRoute({
    method: "patch",
    path: "/api/connectors/{id}/scope",
    summary: "Change what a connector includes",
    request: {
      params: ById,
      query: z.strictObject({ dryRun: z.enum(["true", "false"]).default("false") }),
      body: body(ConnectorScope),
    },
    responses: {
      202: answer(
        "The connector, the sync that reads what was added (null on a dry run), and what changes",
        z.object({ connector: Connector, sync: z.union([Sync, z.null()]), plan: ScopePlan }),
      ),
      default: problems(
        "connector_state_conflict",
        "connector_scope_invalid",
        "provider_unavailable",
        "source_not_found",
        "source_unavailable",
        "source_unauthorized",
        "source_rate_limited",
      ),
    },
  }),
  browseOwn: createRoute({
    method: "post",
    path: "/api/connectors/{id}/browse",
    summary: "Browse what the source of your connector holds",
    request: { params: ById, body: body(BrowseAt) },
    responses: {
      200: answer("The nodes below the parent", BrowseAnswer),
      default: problems(
        "provider_unavailable",
        "connector_state_conflict",
        "source_not_found",
        "source_unavailable",
        "source_unauthorized",
        "source_rate_limited",
      ),
    },
  }),
  requestSync: createRoute({
    method: "post",
    path: "/api/connectors/{id}/syncs",
    summary: "Start a sync, or join the queued one",
    request: { params: ById, body: json(RequestSyncBody) },
    responses: {
      202: answer("The queued sync", OneSync),
      default: problems("connector_state_conflict", "provider_unavailable"),
    },
  }),
  listSyncs: createRoute({
    method: "get",
    path: "/api/connectors/{id}/syncs",
    summary: "List a connector's syncs",
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
    summary: "Cancel a sync; what it stored stays",
    request: { params: BySync },
    responses: {
      202: answer("The sync, which is ending or has ended", OneSync),
      default: problems("sync_not_running"),
    },
  }),
  pause: createRoute({
    method: "post",
    path: "/api/connectors/{id}/pause",
    summary: "Pause the schedule and cancel the running sync; items stay visible",
    request: { params: ById },
    responses: { 200: answer("The connector", One), default: problems("connector_state_conflict") },
  }),
  resume: createRoute({
    method: "post",
    path: "/api/connectors/{id}/resume",
    summary: "Resume after a pause or an error",
    request: { params: ById },
    responses: {
      200: answer("The connector", One),
      default: problems("connector_state_conflict", "credential_required", "provider_unavailable"),
    },
  }),
  listRemovals: createRoute({
    method: "get",
    path: "/api/connectors/{id}/removals",
    summary: "List removals that wait for approval",
    request: { params: ById, query: Page },
    responses: {
      200: answer("By kbId", z.object({ removals: z.array(HeldRemoval), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  approveRemovals: createRoute({
    method: "post",
    path: "/api/connectors/{id}/removals/approve",
    summary: "Approve held removals",
    request: { params: ById, body: json(RemovalsBody) },
    responses: { 200: answer("How many", z.object({ removed: Count })), default: problems("connector_state_conflict") },
  }),
  rejectRemovals: createRoute({
    method: "post",
    path: "/api/connectors/{id}/removals/reject",
    summary: "Reject held removals",
    request: { params: ById, body: json(RemovalsBody) },
    responses: { 200: answer("How many", z.object({ kept: Count })), default: problems("connector_state_conflict") },
  }),
  listRemoved: createRoute({
    method: "get",
    path: "/api/connectors/{id}/removed",
    summary: "List items that were removed in the last 7 days and can be restored",
    request: { params: ById, query: Page },
    responses: {
      200: answer("By kbId", z.object({ removed: z.array(RemovedItem), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  restoreFile: createRoute({
    method: "post",
    path: "/api/connectors/files/{fileId}/restore",
    summary: "Restore an item that was removed in the last 7 days",
    description:
      "For the connector's owner and admins. No one can read the item until its source says who can: a sync reads it again, " +
      "as soon as the connector runs. An item that the source no longer has is removed again. An item of a push connector " +
      "waits for the next push of it, and `sync` is null.",
    request: { params: z.object({ fileId: idSchema("item") }) },
    responses: {
      202: answer("The restored item", z.object({ kbId: z.string(), connectorId: z.string(), sync: Sync.nullable() })),
      default: problems("connector_state_conflict"),
    },
  }),
  rotateKey: createRoute({
    method: "post",
    path: "/api/connectors/{id}/rotate-key",
    summary: "Create a new key for a push connector; it is shown only once",
    description:
      "The key goes to the connector's owner alone. An admin who rotates someone else's key ends it at once and gets " +
      "`key: null`; the owner makes the new one. Where the owner left the workspace, its owner takes the connector over.",
    request: {
      params: ById,
      body: json(z.strictObject({ overlapSeconds: z.number().int().min(0).max(86_400).default(600) })),
    },
    responses: {
      200: answer("The new key", z.object({ key: z.string().nullable() })),
      default: problems("connector_state_conflict"),
    },
  }),
  webhook: createRoute({
    method: "get",
    path: "/api/connectors/{id}/webhook",
    summary: "Get the address at which the app can notify kb of changes",
    request: { params: ById },
    responses: {
      200: answer("The address", z.object({ webhook: WebhookAddress })),
      default: problems("connector_state_conflict"),
    },
  }),
  rotateWebhook: createRoute({
    method: "post",
    path: "/api/connectors/{id}/webhook",
    summary: "Create a secret for a connector's webhook; it is shown only once, and the previous one stops working",
    description:
      "Where the app makes the secret (`secretFrom: app`), the answer is `secret: null`: kb takes the next one that the app tells to the " +
      "address within an hour, and shows it in `webhook.offered`, so that you can confirm it in the app.",
    request: { params: ById },
    responses: {
      200: answer("The address and the secret", z.object({ webhook: WebhookAddress, secret: z.string().nullable() })),
      default: problems("connector_state_conflict"),
    },
  }),
};
