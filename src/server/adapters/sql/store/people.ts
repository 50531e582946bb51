import type { InvitationStore, MemberStore, UserStore, WorkspaceRecordStore } from "#server/ports/store/people.ts";
import type { SqlHandles } from "../handles.ts";

export function makeUserStore(_sql: SqlHandles): UserStore {
  return {};
}
export function makeWorkspaceRecordStore(_sql: SqlHandles): WorkspaceRecordStore {
  return {};
}
export function makeMemberStore(_sql: SqlHandles, _workspaceId: string): MemberStore {
  return {};
}
export function makeInvitationStore(_sql: SqlHandles, _workspaceId: string): InvitationStore {
  return {};
}
