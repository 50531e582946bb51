import type { Scope } from "#api/common.ts";

/** The permissions of each scope in plain words. */
export const SCOPE_WORDS: Readonly<Record<Scope, { title: string; meaning: string }>> = {
  "mcp:read": { title: "Search and read", meaning: "Search and read what you can read in this workspace." },
  "kb:api": {
    title: "Act as you",
    meaning: "Use the API as you: connectors, syncs, items and your profile.",
  },
  "kb:admin": {
    title: "Manage the workspace",
    meaning: "Manage members, invitations, groups, settings and the audit.",
  },
};
