import type { Scope } from "#api/common.ts";

/** The credentials that a route accepts. A route without a row in the table can't be mounted. Source: S26. */
export interface RouteAccess {
  /** Whether the route needs no credential. Then none is checked. */
  public: boolean;
  /** Whether a web session is accepted. */
  session: boolean;
  /**
   * The scopes of which an accepted token must have at least one. If empty, no token is accepted. `kb:admin` includes
   * `kb:api`.
   */
  pat: readonly Scope[];
  /**
   * The audience and the scopes of an accepted OAuth token, which must have at least one of the scopes. If absent, no
   * OAuth token is accepted. `kb:admin` includes `kb:api`. Source: S26, RFC 8707.
   */
  oauth?: { audience: "mcp" | "api"; scopes: readonly Scope[] };
  /** The role that the person must currently have. */
  role?: "admin" | "owner";
  /** Whether the key of the connector with the path's `id` is accepted. */
  connectorKey: boolean;
}

/** The access of `METHOD path`. The names of the path's parameters don't matter. Undefined for an unknown route. */
export function findRouteAccess(method: string, path: string): RouteAccess | undefined {
  return RULES_BY_SHAPE.get(routeShape(method, path));
}

/** `GET /api/x/{id}` and `get /api/x/:itemId` have the same shape. */
export function routeShape(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replaceAll(/\{[^}]+\}|:[^/]+/g, "*")}`;
}

/** Re-keys a table by the shape of each route, instead of `METHOD path`. */
export function byShape<Rule>(table: Readonly<Record<string, Rule>>): ReadonlyMap<string, Rule> {
  return new Map(
    Object.entries(table).map(([route, rule]) => {
      const [method = "", path = ""] = route.split(" ");
      return [routeShape(method, path), rule];
    }),
  );
}

const NONE: RouteAccess = { public: false, session: false, pat: [], connectorKey: false };
const OPEN: RouteAccess = { ...NONE, public: true };
const TOOLS: RouteAccess = { ...NONE, pat: ["mcp:read"], oauth: { audience: "mcp", scopes: ["mcp:read"] } };
const SESSION: RouteAccess = { ...NONE, session: true };
/** The OAuth access of the command line to the REST API. */
const OVER_API = { audience: "api", scopes: ["kb:api"] } as const;
/** Access to the same data as the tools, over REST. `mcp:read` is enough. */
const DATA: RouteAccess = { ...SESSION, pat: ["mcp:read", "kb:api"], oauth: OVER_API };
const MEMBER: RouteAccess = { ...SESSION, pat: ["kb:api"], oauth: OVER_API };
const ADMIN: RouteAccess = {
  ...SESSION,
  pat: ["kb:admin"],
  oauth: { audience: "api", scopes: ["kb:admin"] },
  role: "admin",
};
/**
 * A token never creates tokens. The only exception: the command line's sign-in can create child tokens. Source: S28.
 */
const MINT: RouteAccess = { ...SESSION, oauth: OVER_API };
const OWNER_SESSION: RouteAccess = { ...SESSION, role: "owner" };
const PUSH: RouteAccess = { ...NONE, connectorKey: true };

/** The access of every route, as in the contract. The services check what the caller may do on each route. */
export const ROUTE_ACCESS: Readonly<Record<string, RouteAccess>> = {
  "GET /healthz": OPEN,
  "GET /readyz": OPEN,

  "POST /mcp": TOOLS,

  // The signature authenticates the request.
  "POST /hooks/{providerId}": OPEN,
  "POST /hooks/{providerId}/{connectorId}": OPEN,

  "GET /api/onboarding": OPEN,
  "POST /api/onboarding": OPEN,
  "POST /api/session": OPEN,
  "GET /api/session": MEMBER,
  "DELETE /api/session": SESSION,
  "GET /api/sessions": SESSION,
  "DELETE /api/sessions/{id}": SESSION,
  // The holder of an invitation link may learn what it is for.
  "POST /api/invitations/check": OPEN,
  "POST /api/invitations/accept": OPEN,
  "POST /api/session/workspace": SESSION,
  "POST /api/sign-up": OPEN,
  "POST /api/password-reset": OPEN,
  "POST /api/password-reset/check": OPEN,
  "POST /api/password-reset/confirm": OPEN,
  "POST /api/email-verification": SESSION,
  "POST /api/email-verification/confirm": OPEN,
  "PATCH /api/profile": MEMBER,
  "POST /api/profile/password": SESSION,
  "POST /api/profile/email": SESSION,
  "GET /api/profile/identities": SESSION,
  "GET /api/sso/authorize": OPEN,
  "GET /api/sso/callback": OPEN,
  "POST /api/sso/link": SESSION,

  // Browsers come here from other sites. The owner of the session decides what happens next.
  "GET /api/oauth/{provider}/authorize": OPEN,
  "GET /api/oauth/{provider}/callback": OPEN,
  "GET /api/oauth/{provider}/status": MEMBER,
  "GET /api/accounts/{provider}/authorize": OPEN,
  "GET /api/accounts/{provider}/callback": OPEN,
  "GET /api/accounts/{provider}/status": MEMBER,
  "POST /api/accounts/{provider}/authorize": SESSION,
  "POST /api/accounts/found": SESSION,
  "POST /api/accounts/confirm": SESSION,
  "GET /api/accounts": MEMBER,
  "POST /api/accounts": MEMBER,
  "DELETE /api/accounts/{id}": MEMBER,

  "GET /api/workspaces": MEMBER,
  "POST /api/workspaces": SESSION,

  "GET /api/grants": MEMBER,
  "DELETE /api/grants/{id}": MEMBER,
  "GET /oauth/consent/{uid}/request": SESSION,
  "POST /oauth/consent/{uid}/decision": SESSION,
  "POST /oauth/device/request": SESSION,
  "POST /oauth/device/decision": SESSION,

  "GET /api/api-tokens": MEMBER,
  "POST /api/api-tokens": MINT,
  "POST /api/api-tokens/{id}/adopt": SESSION,
  "DELETE /api/api-tokens/{id}": MEMBER,

  "GET /api/workspace": MEMBER,
  "PATCH /api/workspace": ADMIN,
  "GET /api/workspace/members": MEMBER,
  "GET /api/workspace/members/{id}": MEMBER,
  "PATCH /api/workspace/members/{id}": ADMIN,
  // A member may leave. Only admins may remove someone else, which the service checks.
  "DELETE /api/workspace/members/{id}": MEMBER,
  "POST /api/workspace/members/{id}/password-reset": ADMIN,
  "GET /api/workspace/invitations": ADMIN,
  "POST /api/workspace/invitations": ADMIN,
  "DELETE /api/workspace/invitations/{id}": ADMIN,
  "GET /api/groups": MEMBER,
  "GET /api/groups/{id}": MEMBER,
  "POST /api/groups": ADMIN,
  // The owner of a group may be a member. Anyone else must be an admin, which the service checks.
  "PATCH /api/groups/{id}": MEMBER,
  "DELETE /api/groups/{id}": MEMBER,
  "GET /api/audit": ADMIN,
  "GET /api/audit/check": ADMIN,
  "GET /api/audit/export": ADMIN,
  // Members may list their own reads. Only admins may list another member's, which the service checks.
  "GET /api/audit/reads": MEMBER,
  "GET /api/local-roots": OWNER_SESSION,
  "POST /api/local-roots": OWNER_SESSION,
  "DELETE /api/local-roots/{id}": OWNER_SESSION,

  "GET /api/connectors": MEMBER,
  "POST /api/connectors": MEMBER,
  "GET /api/connectors/mine": MEMBER,
  "GET /api/connectors/sources": MEMBER,
  "GET /api/connectors/all-files": MEMBER,
  "GET /api/connectors/file-counts-by-source": MEMBER,
  "GET /api/connectors/search": DATA,
  "GET /api/connectors/progress": MEMBER,
  "POST /api/connectors/browse": MEMBER,
  "GET /api/connectors/files/{fileId}": MEMBER,
  "GET /api/connectors/files/{fileId}/content": DATA,
  "GET /api/connectors/files/{fileId}/access": MEMBER,
  "GET /api/connectors/{id}": MEMBER,
  "PATCH /api/connectors/{id}": MEMBER,
  "DELETE /api/connectors/{id}": MEMBER,
  "GET /api/connectors/{id}/files": MEMBER,
  "GET /api/connectors/{id}/syncs": MEMBER,
  "POST /api/connectors/{id}/syncs": MEMBER,
  "GET /api/connectors/{id}/syncs/{syncId}": MEMBER,
  "POST /api/connectors/{id}/syncs/{syncId}/cancel": MEMBER,
  "POST /api/connectors/{id}/pause": MEMBER,
  "POST /api/connectors/{id}/resume": MEMBER,
  "GET /api/connectors/{id}/people": MEMBER,
  "PUT /api/connectors/{id}/people": ADMIN,
  "GET /api/connectors/{id}/removals": MEMBER,
  "GET /api/connectors/{id}/removed": MEMBER,
  "POST /api/connectors/files/{fileId}/restore": MEMBER,
  "POST /api/connectors/{id}/removals/approve": MEMBER,
  "POST /api/connectors/{id}/removals/reject": MEMBER,
  "PATCH /api/connectors/{id}/scope": MEMBER,
  "POST /api/connectors/{id}/browse": MEMBER,
  "POST /api/connectors/{id}/rotate-key": MEMBER,
  "GET /api/connectors/{id}/webhook": MEMBER,
  "POST /api/connectors/{id}/webhook": MEMBER,
  "POST /api/connectors/{id}/items": PUSH,
  "DELETE /api/connectors/{id}/items/{externalId}": PUSH,
  "POST /api/connectors/{id}/documents": PUSH,
  "POST /api/connectors/{id}/uploads": PUSH,
  "GET /api/connectors/{id}/uploads/{uploadId}": PUSH,
  "POST /api/connectors/{id}/uploads/{uploadId}/end": PUSH,

  "GET /api/webhooks": ADMIN,
  "POST /api/webhooks": ADMIN,
  "GET /api/webhooks/{id}": ADMIN,
  "PATCH /api/webhooks/{id}": ADMIN,
  "DELETE /api/webhooks/{id}": ADMIN,
  "POST /api/webhooks/{id}/rotate-secret": ADMIN,
  "POST /api/webhooks/{id}/test": ADMIN,
  "GET /api/webhooks/{id}/deliveries": ADMIN,
  "POST /api/webhooks/{id}/deliveries/{deliveryId}/replay": ADMIN,
  "POST /api/webhooks/{id}/replay": ADMIN,

  "GET /api/mcp-servers": MEMBER,
  "POST /api/mcp-servers": ADMIN,
  "PATCH /api/mcp-servers/{id}": ADMIN,
  "DELETE /api/mcp-servers/{id}": ADMIN,
  "POST /api/mcp-servers/connection-tests": ADMIN,
  // Members may test their own connection. Only admins may test the server itself, which the service checks.
  "POST /api/mcp-servers/{id}/connection-tests": MEMBER,
  "GET /api/mcp-servers/{id}/tools": ADMIN,
  "POST /api/mcp-servers/{id}/mapping/previews": ADMIN,
  "PUT /api/mcp-servers/{id}/mapping": ADMIN,
  "GET /api/mcp-servers/{id}/health": MEMBER,
  "GET /api/mcp-servers/{id}/apps": MEMBER,
  "POST /api/mcp-servers/{id}/connections": MEMBER,
  "POST /api/mcp-servers/{id}/connections/intents": MEMBER,
  "POST /api/mcp-servers/intents/read": SESSION,
  "POST /api/mcp-servers/intents/open": SESSION,
  "GET /api/mcp-servers/callback": OPEN,
  "GET /api/mcp-servers/callback/{client}": OPEN,
  "POST /api/mcp-servers/intents/found": SESSION,
  "POST /api/mcp-servers/intents/confirm": SESSION,
  "GET /oauth/clients/mcp.json": OPEN,
  "GET /api/mcp-servers/{id}/connections": MEMBER,
  "DELETE /api/mcp-servers/{id}/connections/{connectionId}": MEMBER,
  "PATCH /api/mcp-servers/{id}/connections/{connectionId}/access": MEMBER,
  "POST /api/mcp-servers/{id}/connections/{connectionId}/agreement": MEMBER,

  "GET /api/entities": DATA,
  "GET /api/entities/{id}": DATA,
};

const RULES_BY_SHAPE = byShape(ROUTE_ACCESS);
