import type { Role, Scope } from "#api/common.ts";

/** How the person behind a request proved who they are. */
export type Credential =
  | { type: "session"; id: string }
  | { type: "pat"; id: string }
  | { type: "oauth"; id: string; clientId: string };

/**
 * Who is behind a request, in exactly one workspace. Made by `http/auth.ts` only; every read of items takes one.
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
}
