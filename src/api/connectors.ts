/** Connectors, their runs and what they would remove. Pushing: `push.ts`. Files and search: `files.ts`, `search.ts`. */
import { idSchema, PageCursor, PageLimit } from "./common.ts";
import {
  BrowseAnswer,
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
const OneSync = z.object({ sync: Sync });
const ConnectorList = z.object({
  connectors: z.array(z.union([Connector, ConnectorPublic])),
  nextCursor: z.string().nullable(),
});

/** What is wrong with a connector's settings, as its source or the workspace says: on creating and on changing one. */
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
        z.object({ connector: Connector, sync: z.union([Sync, z.null()]), key: z.string().optional() }),
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
    summary: "One connector, for its owner and admins",
    request: { params: ById },
    responses: { 200: answer("The connector", One), default: problemAnswer },
  }),
  update: createRoute({
    method: "patch",
    path: "/api/connectors/{id}",
    summary: "Change name, config, access or schedule",
    request: { params: ById, body: body(PatchConnectorBody) },
    responses: {
      200: answer("The connector as it is now", One),
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
    summary: "Delete: hidden at once, purged in the background, keys revoked",
    request: { params: ById },
    responses: { 202: answer("The connector, going", One), default: problems("connector_state_conflict") },
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
  requestSync: createRoute({
    method: "post",
    path: "/api/connectors/{id}/syncs",
    summary: "Ask for a run; joins the one that is queued",
    request: { params: ById, body: json(RequestSyncBody) },
    responses: {
      202: answer("The queued run", OneSync),
      default: problems("connector_state_conflict", "provider_unavailable"),
    },
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
    responses: { 202: answer("The run, ending or ended", OneSync), default: problems("sync_not_running") },
  }),
  pause: createRoute({
    method: "post",
    path: "/api/connectors/{id}/pause",
    summary: "Stop the schedule and the run under way; items stay visible",
    request: { params: ById },
    responses: { 200: answer("The connector", One), default: problems("connector_state_conflict") },
  }),
  resume: createRoute({
    method: "post",
    path: "/api/connectors/{id}/resume",
    summary: "Go on after a pause or an error",
    request: { params: ById },
    responses: {
      200: answer("The connector", One),
      default: problems("connector_state_conflict", "credential_required", "provider_unavailable"),
    },
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
    responses: { 200: answer("How many", z.object({ removed: Count })), default: problems("connector_state_conflict") },
  }),
  rejectRemovals: createRoute({
    method: "post",
    path: "/api/connectors/{id}/removals/reject",
    summary: "Keep what was held",
    request: { params: ById, body: json(RemovalsBody) },
    responses: { 200: answer("How many", z.object({ kept: Count })), default: problems("connector_state_conflict") },
  }),
  rotateKey: createRoute({
    method: "post",
    path: "/api/connectors/{id}/rotate-key",
    summary: "A new key for a push connector, shown this once",
    description:
      "The key goes to the connector's owner alone. An admin who rotates somebody else's key ends it at once and gets " +
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
};
