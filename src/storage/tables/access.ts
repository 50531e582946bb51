import { table, words } from "./table.ts";

const { text } = words;

/** Who belongs to a group principal, as its reporter said. Members may be groups themselves. */
export const MEMBERSHIPS = table("memberships", ["workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy"], {
  groupPrincipal: text,
  memberPrincipal: text,
  /** `kb` for the service's own groups, else the connector that reported the row. */
  reportedBy: text,
});
