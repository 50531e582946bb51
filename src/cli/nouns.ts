/** Every noun of `kb`, under its heading and in the order of `kb help`. A noun's file is loaded when it is typed. */
import type { Command, Noun } from "./command.ts";

/** Loads a noun with its verbs, or a command that is one word. */
export type LoadNoun = () => Promise<Noun | Command>;

export const SECTIONS: readonly { title: string; nouns: Readonly<Record<string, LoadNoun>> }[] = [
  {
    title: "Start",
    nouns: {
      quickstart: async () => (await import("./commands/quickstart.ts")).quickstart,
      serve: async () => (await import("./commands/serve.ts")).serve,
      stop: async () => (await import("./commands/stop.ts")).stop,
    },
  },
  {
    title: "Sign in",
    nouns: {
      login: async () => (await import("./commands/login.ts")).login,
      logout: async () => (await import("./commands/logout.ts")).logout,
      whoami: async () => (await import("./commands/whoami.ts")).whoami,
      auth: async () => (await import("./commands/auth.ts")).auth,
      context: async () => (await import("./commands/context.ts")).context,
      profile: async () => (await import("./commands/profile.ts")).profile,
    },
  },
  {
    title: "Find",
    nouns: {
      search: async () => (await import("./commands/search.ts")).search,
      files: async () => (await import("./commands/files.ts")).files,
      entities: async () => (await import("./commands/entities.ts")).entities,
      access: async () => (await import("./commands/access.ts")).access,
      open: async () => (await import("./commands/open.ts")).open,
      eval: async () => (await import("./commands/eval.ts")).evaluateSearch,
    },
  },
  {
    title: "Connect agents",
    nouns: {
      mcp: async () => (await import("./commands/mcp.ts")).mcp,
      tokens: async () => (await import("./commands/tokens.ts")).tokens,
      grants: async () => (await import("./commands/grants.ts")).grants,
    },
  },
  {
    title: "Bring content in",
    nouns: {
      accounts: async () => (await import("./commands/accounts.ts")).accounts,
      servers: async () => (await import("./commands/servers.ts")).servers,
      connectors: async () => (await import("./commands/connectors.ts")).connectors,
      push: async () => (await import("./commands/push.ts")).push,
      roots: async () => (await import("./commands/roots.ts")).roots,
    },
  },
  {
    title: "Run a workspace",
    nouns: {
      workspace: async () => (await import("./commands/workspace.ts")).workspace,
      members: async () => (await import("./commands/members.ts")).members,
      invitations: async () => (await import("./commands/invitations.ts")).invitations,
      groups: async () => (await import("./commands/groups.ts")).groups,
      events: async () => (await import("./commands/events.ts")).events,
      audit: async () => (await import("./commands/audit.ts")).audit,
    },
  },
  {
    title: "On the server's machine",
    nouns: {
      admin: async () => (await import("./commands/admin.ts")).admin,
      check: async () => (await import("./commands/check.ts")).check,
      reindex: async () => (await import("./commands/reindex.ts")).reindex,
    },
  },
  {
    title: "Anything else",
    nouns: {
      api: async () => (await import("./commands/api.ts")).api,
      completion: async () => (await import("./commands/completion.ts")).completion,
      version: async () => (await import("./commands/version.ts")).version,
    },
  },
];

/** Other names of a noun. */
const OTHER_NAMES: Readonly<Record<string, string>> = { bridge: "mcp" };

/** Finds a noun by a word, with its own name; undefined when there is none. */
export function findNoun(word: string): { name: string; load: LoadNoun } | undefined {
  const name = (Object.hasOwn(OTHER_NAMES, word) && OTHER_NAMES[word]) || word;
  for (const { nouns } of SECTIONS) {
    const load = Object.hasOwn(nouns, name) ? nouns[name] : undefined;
    if (load !== undefined) return { name, load };
  }
  return undefined;
}
