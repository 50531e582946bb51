/** A member who loses rights, and the instant at which that happens. */
export interface Whose {
  workspaceId: string;
  userId: string;
  at: number;
}
