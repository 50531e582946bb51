import type { Scope } from "#api/common.ts";

/** What a scope lets its holder do, in plain words. */
export const SCOPE_WORDS: Readonly<Record<Scope, { title: string; meaning: string }>> = {
  "mcp:read": { title: "Search and read", meaning: "Search what you can see in this workspace, and read it." },
  "kb:api": {
    title: "Act as you",
    meaning: "Use kb as you: connectors, syncs, lists and your profile.",
  },
  "kb:admin": {
    title: "Manage the workspace",
    meaning: "Do what admins do: members, invitations, groups, settings and the audit.",
  },
};
