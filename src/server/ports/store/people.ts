/** Filled by its feature. */
export interface UserStore {}
export interface WorkspaceRecordStore {}
export interface MemberStore {}
export interface InvitationStore {}
