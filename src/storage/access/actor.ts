import type { Role, Scope } from "#api/common.ts";

/** How the person behind a request proved who they are. */
export type Credential =
  | { type: "session"; id: string }
  | { type: "pat"; id: string }
  | { type: "oauth"; id: string; clientId: string };

/** What a request looks like from outside; written with the acts it causes. */
export interface RequestOrigin {
  requestId: string;
  /** Address of the peer, or of the client when a trusted proxy says so; null without a socket. */
  clientIp: string | null;
  /** What the program calls itself, cleaned and cut; absent where it does not say. */
  client?: string;
}

/**
 * Who is behind a request, in exactly one workspace. Made by `http/authenticate.ts` only; every read of items takes one.
 * Role and membership are today's, never those of the credential's birth.
 */
export interface Actor {
  workspaceId: string;
  userId: string;
  role: Role;
  scopes: readonly Scope[];
  credential: Credential;
  /** IANA zone for whole-day filters and printed dates. */
  timeZone: string;
  /** The request in whose course this actor acts; absent in background work. */
  origin?: RequestOrigin;
}

/** A connector's own key: it opens that connector's push routes and nothing else. */
export interface ConnectorCaller {
  workspaceId: string;
  connectorId: string;
  keyId: string;
  origin?: RequestOrigin;
}

/** True when the actor's role now is admin or owner and the credential carries `kb:admin`. Source: S26. */
export function actsAsAdmin(actor: Pick<Actor, "role" | "scopes">): boolean {
  return actor.role !== "member" && actor.scopes.includes("kb:admin");
}
