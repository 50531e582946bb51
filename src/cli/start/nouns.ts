/** Every noun of `kb`, under its heading and in the order of `kb help`. A noun's file is loaded when the noun is typed. */
import type { Command, Noun } from "#cli/line/command.ts";

/** Loads a noun with its verbs, or a command of one word. */
export type LoadNoun = () => Promise<Noun | Command>;

export const SECTIONS: readonly { title: string; nouns: Readonly<Record<string, LoadNoun>> }[] = [
  {
    title: "Start",
    nouns: {
      quickstart: async () => (await import("#cli/commands/quickstart.ts")).quickstart,
      serve: async () => (await import("#cli/commands/serve.ts")).serve,
      stop: async () => (await import("#cli/commands/stop.ts")).stop,
    },
  },
  {
    title: "Sign in",
    nouns: {
      login: async () => (await import("#cli/commands/login.ts")).login,
      logout: async () => (await import("#cli/commands/logout.ts")).logout,
      whoami: async () => (await import("#cli/commands/whoami.ts")).whoami,
      auth: async () => (await import("#cli/commands/auth.ts")).auth,
      context: async () => (await import("#cli/commands/context.ts")).context,
      profile: async () => (await import("#cli/commands/profile.ts")).profile,
    },
  },
  {
    title: "Find",
    nouns: {
      search: async () => (await import("#cli/commands/search.ts")).search,
      files: async () => (await import("#cli/commands/files.ts")).files,
      entities: async () => (await import("#cli/commands/entities.ts")).entities,
      access: async () => (await import("#cli/commands/access.ts")).access,
      open: async () => (await import("#cli/commands/open.ts")).open,
      eval: async () => (await import("#cli/commands/eval.ts")).evaluateSearch,
    },
  },
  {
    title: "Connect agents",
    nouns: {
      mcp: async () => (await import("#cli/commands/mcp.ts")).mcp,
      tokens: async () => (await import("#cli/commands/tokens.ts")).tokens,
      grants: async () => (await import("#cli/commands/grants.ts")).grants,
    },
  },
  {
    title: "Bring content in",
    nouns: {
      accounts: async () => (await import("#cli/commands/accounts.ts")).accounts,
      servers: async () => (await import("#cli/commands/servers.ts")).servers,
      connectors: async () => (await import("#cli/commands/connectors.ts")).connectors,
      push: async () => (await import("#cli/commands/push.ts")).push,
      roots: async () => (await import("#cli/commands/roots.ts")).roots,
    },
  },
  {
    title: "Run a workspace",
    nouns: {
      workspace: async () => (await import("#cli/commands/workspace.ts")).workspace,
      members: async () => (await import("#cli/commands/members.ts")).members,
      invitations: async () => (await import("#cli/commands/invitations.ts")).invitations,
      groups: async () => (await import("#cli/commands/groups.ts")).groups,
      events: async () => (await import("#cli/commands/events.ts")).events,
      audit: async () => (await import("#cli/commands/audit.ts")).audit,
    },
  },
  {
    title: "On the server's machine",
    nouns: {
      admin: async () => (await import("#cli/commands/admin.ts")).admin,
      check: async () => (await import("#cli/commands/check.ts")).check,
      reindex: async () => (await import("#cli/commands/reindex.ts")).reindex,
    },
  },
  {
    title: "Anything else",
    nouns: {
      api: async () => (await import("#cli/commands/api.ts")).api,
      completion: async () => (await import("#cli/commands/completion.ts")).completion,
      version: async () => (await import("#cli/commands/version.ts")).version,
    },
  },
];

/** Other names of a noun. */
const OTHER_NAMES: Readonly<Record<string, string>> = { bridge: "mcp" };

/** Finds a noun by a word, and returns it with its own name; undefined when there is none. */
export function findNoun(word: string): { name: string; load: LoadNoun } | undefined {
  const name = (Object.hasOwn(OTHER_NAMES, word) && OTHER_NAMES[word]) || word;
  for (const { nouns } of SECTIONS) {
    const load = Object.hasOwn(nouns, name) ? nouns[name] : undefined;
    if (load !== undefined) return { name, load };
  }
  return undefined;
}
