/** Every route of the contract, by feature. Each file appends its group here; the OpenAPI document is made from it. */
import { auditRoutes } from "./audit.ts";
import { connectorRoutes } from "./connectors.ts";
import { entitiesRoute, entityContextRoute } from "./entities.ts";
import { fileRoutes } from "./files.ts";
import { operationRoutes } from "./operations.ts";
import { pushRoutes } from "./push.ts";
import { searchRoute } from "./search.ts";
import { sessionRoutes } from "./session.ts";
import { tokenRoutes } from "./tokens.ts";
import { groupRoutes, invitationRoutes, localRootRoutes, workspaceRoutes } from "./workspace.ts";

export const ROUTE_GROUPS = {
  audit: auditRoutes,
  connectors: connectorRoutes,
  entities: { list: entitiesRoute, context: entityContextRoute },
  files: fileRoutes,
  groups: groupRoutes,
  invitations: invitationRoutes,
  localRoots: localRootRoutes,
  operations: operationRoutes,
  push: pushRoutes,
  search: { search: searchRoute },
  session: sessionRoutes,
  tokens: tokenRoutes,
  workspace: workspaceRoutes,
} as const;
