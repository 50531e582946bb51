import type { Role, Scope } from "#api/common.ts";

/** How the person behind a request authenticated. */
export type Credential =
  | { type: "session"; id: string }
  | { type: "pat"; id: string }
  | { type: "oauth"; id: string; clientId: string };

/** The origin of a request, recorded with the actions that the request causes. */
export interface RequestOrigin {
  requestId: string;
  /** The address of the peer, or of the client when a trusted proxy reports it; null without a socket. */
  clientIp: string | null;
  /** The client program's name for itself, cleaned and truncated; absent when it sends none. */
  client?: string;
}

/**
 * The person behind a request, in exactly one workspace. Only `http/authenticate.ts` creates an actor, and every read
 * of items requires one. Role and membership are current, not those from when the credential was created.
 */
export interface Actor {
  workspaceId: string;
  userId: string;
  role: Role;
  scopes: readonly Scope[];
  credential: Credential;
  /** IANA time zone, for whole-day filters and printed dates. */
  timeZone: string;
  /** The request that this actor made; absent in background work. */
  origin?: RequestOrigin;
}

/** A connector's own key, which gives access to that connector's push routes and nothing else. */
export interface ConnectorCaller {
  workspaceId: string;
  connectorId: string;
  keyId: string;
  origin?: RequestOrigin;
}

/** True when the actor's current role is admin or owner and the credential carries `kb:admin`. Source: S26. */
export function actsAsAdmin(actor: Pick<Actor, "role" | "scopes">): boolean {
  return actor.role !== "member" && actor.scopes.includes("kb:admin");
}
