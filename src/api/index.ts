/** Every route of the contract, by feature. Each file adds its group here; the OpenAPI document is generated from it. */
import { accountRoutes } from "./accounts.ts";
import { auditRoutes } from "./audit.ts";
import { connectionIntentRoutes, connectionRoutes } from "./connections.ts";
import { connectorRoutes } from "./connectors.ts";
import { entitiesRoute, entityContextRoute } from "./entities.ts";
import { eventRoutes } from "./events.ts";
import { fileRoutes } from "./files.ts";
import { consentRoutes, grantRoutes } from "./oauth.ts";
import { hookRoutes } from "./hooks.ts";
import { operationRoutes } from "./operations.ts";
import { peopleRoutes } from "./people.ts";
import { providerServerRoutes } from "./provider-servers.ts";
import { pushRoutes } from "./push.ts";
import { searchRoute } from "./search.ts";
import { linkRoutes } from "./links.ts";
import { myWorkspaceRoutes, profileRoutes, sessionRoutes, signUpRoutes } from "./session.ts";
import { ssoRoutes } from "./sso.ts";
import { tokenRoutes } from "./tokens.ts";
import { groupRoutes, invitationRoutes, localRootRoutes, workspaceRoutes } from "./workspace.ts";

export const ROUTE_GROUPS = {
  accounts: accountRoutes,
  audit: auditRoutes,
  connections: connectionRoutes,
  connectionIntents: connectionIntentRoutes,
  connectors: connectorRoutes,
  consent: consentRoutes,
  entities: { list: entitiesRoute, context: entityContextRoute },
  events: eventRoutes,
  files: fileRoutes,
  grants: grantRoutes,
  groups: groupRoutes,
  hooks: hookRoutes,
  invitations: invitationRoutes,
  localRoots: localRootRoutes,
  myWorkspaces: myWorkspaceRoutes,
  operations: operationRoutes,
  people: peopleRoutes,
  profile: profileRoutes,
  providerServers: providerServerRoutes,
  push: pushRoutes,
  search: { search: searchRoute },
  session: sessionRoutes,
  signUp: signUpRoutes,
  links: linkRoutes,
  sso: ssoRoutes,
  tokens: tokenRoutes,
  workspace: workspaceRoutes,
} as const;
