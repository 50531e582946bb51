import type { Role } from "#api/common.ts";
import type { SecretsSetting } from "#api/session.ts";

/** Addresses are equal when they are after this: only ASCII letters change. Source: S3. */
export function emailKeyOf(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** A person, across workspaces. */
export interface UserRecord {
  userId: string;
  email: string;
  name: string;
  passwordHash: string | null;
  emailVerifiedAt: Date | null;
  timeZone: string | null;
  createdAt: Date;
}

export interface WorkspaceRecord {
  workspaceId: string;
  name: string;
  timeZone: string;
  /** What becomes of tokens, keys and passwords in texts: taken out, or indexed as they are. Source: S37. */
  secrets: SecretsSetting;
  createdAt: Date;
}

export interface MemberRecord {
  userId: string;
  name: string;
  email: string;
  role: Role;
  joinedAt: Date;
}

export interface InvitationRecord {
  invitationId: string;
  workspaceId: string;
  email: string;
  role: Role;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
  acceptedAt: Date | null;
  revokedAt: Date | null;
  /** True when this server sent the link to `email`: accepting it then proves the address. Source: S3. */
  isMailed: boolean;
}

export interface GroupRecord {
  groupId: string;
  name: string;
  /** Null where its owner left. */
  ownerUserId: string | null;
  /** Only its owner changes it. */
  isClosed: boolean;
  createdAt: Date;
}

/** Rows after this one: the value of the list's order, then the id. */
export interface RowsAfter {
  value: number;
  id: string;
}

export interface PageRequest {
  limit: number;
  after?: RowsAfter;
}

export interface UserStore {
  find(userId: string): Promise<UserRecord | undefined>;
  /** By address, ASCII-lower-case. */
  findByEmail(email: string): Promise<UserRecord | undefined>;
  /** @throws ApiError `email_taken` */
  insert(user: UserRecord): Promise<void>;
  setPasswordHash(userId: string, passwordHash: string): Promise<void>;
  setTimeZone(userId: string, timeZone: string | null): Promise<void>;
  /** Remembers that this person made a link by which they could sign in as the user. */
  noteResetLink(userId: string, madeBy: string, at: Date): Promise<void>;
  /** The last such link. */
  findResetLink(userId: string): Promise<{ at: Date; madeBy: string } | undefined>;
  /** Remembers that the operator set the user's password on the server's machine. */
  notePasswordSet(userId: string, at: Date): Promise<void>;
  /** When that was last. */
  findPasswordSet(userId: string): Promise<Date | undefined>;
  /** Sets the zone of the device that somebody comes in from, unless they have one. */
  fillTimeZone(userId: string, timeZone: string): Promise<void>;
  setName(userId: string, name: string): Promise<void>;
  /** Another address, with what is known of it; nothing of the former one stays. @throws ApiError `email_taken` */
  setEmail(userId: string, email: string, verifiedAt: Date | null): Promise<void>;
  /** The address was proved, if it is still this one and was not proved before. */
  markVerified(userId: string, email: string, at: Date): Promise<void>;
  /** The workspaces a person is a member of, the one joined first first. */
  membershipsOf(userId: string): Promise<{ workspaceId: string; role: Role; joinedAt: Date }[]>;
}

export interface WorkspaceRecordStore {
  find(workspaceId: string): Promise<WorkspaceRecord | undefined>;
  /** Oldest first. */
  list(): Promise<WorkspaceRecord[]>;
  /** A new one masks secrets. */
  insert(workspace: Omit<WorkspaceRecord, "secrets">): Promise<void>;
  update(workspaceId: string, change: { name?: string; timeZone?: string; secrets?: SecretsSetting }): Promise<void>;
  /** An invitation by the SHA-256 of its token, before its workspace is known. */
  findInvitation(tokenHash: string): Promise<InvitationRecord | undefined>;
  /** The open invitations of an address in all workspaces, newest first. */
  listOpenInvitationsOf(email: string, now: Date): Promise<InvitationRecord[]>;
}

export interface MemberStore {
  find(userId: string): Promise<MemberRecord | undefined>;
  /** By (joinedAt, userId). */
  list(page: PageRequest): Promise<MemberRecord[]>;
  /** Of these users, those who are members. */
  whichOf(userIds: readonly string[]): Promise<Set<string>>;
  countOwners(): Promise<number>;
  /** Adds a member and raises the access epoch. */
  insert(member: { userId: string; role: Role; joinedAt: Date }): Promise<void>;
  /** Changes the role and raises the access epoch. */
  setRole(userId: string, role: Role): Promise<void>;
  /**
   * Ends the person's sessions, tokens and grants here, whether they stay or go.
   *
   * @param keep  a session that stays, and whether the tokens made in a session stay
   */
  endCredentials(userId: string, at: Date, keep?: { sessionId?: string; tokens?: boolean }): Promise<void>;
  /**
   * Ends the membership and everything that hung on it, so that coming back restores none of it: group memberships,
   * places in connectors' access, sessions, tokens, grants, connector keys and invitations they made, credentials they gave to
   * connectors. Connectors of theirs that can't go on without are `needs_owner`. Raises the access epoch. Source: S13.
   *
   * @returns the runs under way that were told to end
   */
  remove(userId: string, at: Date): Promise<{ stoppedSyncIds: string[] }>;
}

export interface InvitationStore {
  find(invitationId: string): Promise<InvitationRecord | undefined>;
  /** Those not withdrawn, by (createdAt, invitationId) descending. */
  list(page: PageRequest): Promise<InvitationRecord[]>;
  insert(invitation: InvitationRecord & { tokenHash: string }): Promise<void>;
  /** True for exactly one caller, and only while it is neither accepted nor withdrawn nor expired. */
  accept(invitationId: string, at: Date): Promise<boolean>;
  revoke(invitationId: string, at: Date): Promise<void>;
  /** Withdraws the open invitations of an address. */
  revokeOpenOf(email: string, at: Date): Promise<void>;
}

/** Groups' names; who is in them is `access.membersOf("group:<id>")`. */
export interface GroupStore {
  find(groupId: string): Promise<GroupRecord | undefined>;
  /** By (createdAt, groupId). */
  list(page: PageRequest): Promise<GroupRecord[]>;
  whichOf(groupIds: readonly string[]): Promise<Set<string>>;
  insert(group: GroupRecord): Promise<void>;
  /** Changes what is said of the group; who is in it is another matter. */
  update(groupId: string, change: Partial<Pick<GroupRecord, "name" | "ownerUserId" | "isClosed">>): Promise<void>;
  /** Deletes the group with its memberships in both directions; raises the access epoch. */
  remove(groupId: string): Promise<void>;
}
