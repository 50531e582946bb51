/** A member whose rights end or fall, and the instant of it. */
export interface Whose {
  workspaceId: string;
  userId: string;
  at: number;
}
