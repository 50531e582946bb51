import type { Role } from "#api/common.ts";
import { HOME_PATH } from "#api/return-to.ts";
import { waitingQuery } from "#server/web/app/data/connectors.ts";
import type { IconName } from "#server/web/app/ui/icon.tsx";

export interface NavLink {
  to: string;
  label: string;
  icon: IconName;
  /** A query for the number of entries that wait for the person. The number is shown next to the link. */
  waits?: typeof waitingQuery;
  /** Members don't see the link. */
  isForAdmins?: boolean;
}

/** The navigation, in order. A page for a new feature needs a line here and one in `router.tsx`. */
export const NAV: readonly { title?: string; links: readonly NavLink[] }[] = [
  { links: [{ to: HOME_PATH, label: "Search", icon: "search" }] },
  {
    title: "Settings",
    links: [
      { to: "/settings/mcp-access", label: "MCP access", icon: "key" },
      { to: "/settings/reads", label: "Agent activity", icon: "eye" },
      { to: "/settings/accounts", label: "Accounts", icon: "link" },
      { to: "/settings/profile", label: "Profile", icon: "person" },
      { to: "/settings/sessions", label: "Sessions", icon: "devices" },
    ],
  },
  {
    title: "Workspace",
    links: [
      { to: "/workspace/connectors", label: "Connectors", icon: "plug", waits: waitingQuery },
      { to: "/workspace/servers", label: "Provider servers", icon: "server" },
      { to: "/workspace/members", label: "Members", icon: "people" },
      { to: "/workspace/groups", label: "Groups", icon: "groups" },
      { to: "/workspace/invitations", label: "Invitations", icon: "mail", isForAdmins: true },
      { to: "/workspace/events", label: "Events", icon: "external", isForAdmins: true },
      { to: "/workspace/general", label: "General", icon: "sliders", isForAdmins: true },
      { to: "/workspace/audit", label: "Audit", icon: "list", isForAdmins: true },
    ],
  },
];

/** True for owners and admins. */
export function isAdmin(role: Role): boolean {
  return role !== "member";
}
