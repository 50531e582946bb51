import type { Role } from "#api/common.ts";

export interface SessionRecordRow {
  sessionId: string;
  userId: string;
  workspaceId: string;
  createdAt: Date;
  /** When the person last proved who they are; switching workspaces does not count. */
  authenticatedAt: Date;
  lastSeenAt: Date;
  /** The absolute end; the idle end follows from `lastSeenAt`. */
  expiresAt: Date;
  revokedAt: Date | null;
  userAgent: string | null;
  ip: string | null;
}

/** A credential together with what its person is today. */
export interface WithMembership {
  role: Role;
  /** The person's zone, else the workspace's. */
  timeZone: string;
}

export interface SessionStore {
  insert(session: SessionRecordRow & { tokenHash: string }): Promise<void>;
  /** By the SHA-256 of the secret; undefined when its person is no member of its workspace any more. */
  findByHash(tokenHash: string): Promise<(SessionRecordRow & WithMembership) | undefined>;
  find(sessionId: string): Promise<SessionRecordRow | undefined>;
  /** Live ones of a person in a workspace, by (createdAt, sessionId) descending. */
  list(options: {
    userId: string;
    workspaceId: string;
    now: Date;
    idleMs: number;
    limit: number;
    after?: { value: number; id: string };
  }): Promise<SessionRecordRow[]>;
  touch(sessionId: string, at: Date): Promise<void>;
  revoke(sessionId: string, at: Date): Promise<void>;
  /** Deletes those that ended before this moment, by themselves or by somebody, or were last used before `idleSince`. */
  sweep(endedBefore: Date, idleSince: Date): Promise<void>;
}
