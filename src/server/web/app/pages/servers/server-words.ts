/** Words for provider servers and their connections, and what to do when one fails. */
import type { Connection } from "#api/connections.ts";
import type { MappingFault, MappingRole, ProviderServer, ServerTest } from "#api/provider-servers.ts";
import { plural } from "#api/plural.ts";
import type { StateWords } from "#server/web/app/ui/bits.tsx";

const HEALTH_WORDS: Readonly<Record<ProviderServer["health"]["status"], StateWords>> = {
  healthy: { title: "Healthy", tone: "ok" },
  degraded: { title: "Unstable", tone: "warn" },
  down: { title: "Down", tone: "warn" },
  unknown: { title: "Not tested yet", tone: "plain" },
};

/** Returns the state of a server in a word or two. */
export function serverState({ enabled, health }: Pick<ProviderServer, "enabled" | "health">): StateWords {
  return enabled ? HEALTH_WORDS[health.status] : { title: "Off", tone: "plain" };
}

export const CONNECTION_WORDS: Readonly<Record<Connection["status"], StateWords>> = {
  pending: { title: "Waiting for sign-in", tone: "plain" },
  active: { title: "Connected", tone: "ok" },
  needs_agreement: { title: "Waits for its owner", tone: "warn" },
  needs_reauth: { title: "Needs a new sign-in", tone: "warn" },
  failed: { title: "Failed", tone: "warn" },
  expired: { title: "Expired", tone: "plain" },
  disabled: { title: "Server is off", tone: "plain" },
  revoked: { title: "Disconnected", tone: "plain" },
};

/** Returns the reason for a connection's state; undefined if the reason adds nothing. */
export function reasonWords(
  { status, statusReason }: Pick<Connection, "status" | "statusReason">,
  signsIn = false,
): string | undefined {
  if (status === "needs_agreement") {
    return "An admin mapped the server's tools differently. Nothing is read until the connection's owner agrees.";
  }
  const known = REASONS[statusReason ?? ""];
  if (known !== undefined) return known;
  if (status !== "needs_reauth") return undefined;
  if (signsIn)
    return "The server no longer accepts the sign-in, so no one can find what was read with it. Sign in again.";
  return "The server no longer accepts the token, so no one can find what was read with it. Disconnect it, then connect with a new token.";
}

const REASONS: Readonly<Record<string, string>> = {
  member_left: "Its owner left the workspace.",
  server_deleted: "The server was deleted.",
  denied: "You or the server refused.",
  other_browser: "The link was finished in a different browser or session.",
  server_changed: "An admin changed the server while you were signing in. Nothing was sent there.",
  other_account: "The server gave kb the sign-in of a different account, which kb didn't use. Sign in again.",
  issuer_changed: "The server now signs people in at a different address. Sign in again.",
  elicitation_required: "The server wants you to open a page first. When you have finished there, select “Test”.",
  insufficient_scope: "The server requires more rights for some of its content. Sign in again to grant them.",
  sign_in_failed: "The sign-in failed.",
  forbidden: "The server refused access.",
  owner_no_admin:
    "It uses the server's own secret, and its owner is no longer an admin. It works again once they are an admin.",
};

export const STEP_WORDS: Readonly<Record<ServerTest["steps"][number]["step"], string>> = {
  resolve: "Look up the address",
  connect: "Connect",
  initialize: "Open an MCP session",
  auth: "Sign in",
  tools: "List tools",
  resources: "List resources",
};

/** Returns advice for a failure, by its code. */
export function adviceOn(code: string): string {
  return ADVICE[code] ?? "Ask the server's operator.";
}

const ADVICE: Readonly<Record<string, string>> = {
  unreachable: "Check the URL, and that the server runs and can be reached from the machine that kb runs on.",
  address_not_allowed:
    "The address is private. To allow it, the server's operator adds it to KB_ALLOW_PRIVATE_HOSTS, and an authorization server also to KB_MCP_AUTHORIZATION_SERVERS.",
  timeout: "Try again. If it stays slow, ask the server's operator.",
  auth_required: "Ask the server's operator for a token, or check the one that you gave.",
  forbidden: "Check that the token has the rights that it needs.",
  rate_limited: "Wait a minute and try again.",
  not_mcp: "Check the path: it often ends in /mcp. kb speaks streamable HTTP.",
  protocol_unsupported: "Ask the server's operator for an update.",
  redirected: "Use the URL that the server redirects to.",
  loop: "Use the URL of a different server.",
  authorization_unusable: "Use a token if the server takes one, or ask its operator.",
};

/** How people sign in. */
export const AUTH_WORDS: Readonly<Record<ProviderServer["auth"]["kind"], string>> = {
  none: "No sign-in",
  bearer: "Bearer token",
  header: "Key in a header",
  oauth: "OAuth: each person signs in",
};

/** Returns "Notes 2.1.0", the server's own name; undefined until it has answered. */
export function calledItself(info: ProviderServer["serverInfo"] | undefined): string | undefined {
  return info ? `${info.title ?? info.name} ${info.version}`.trim() : undefined;
}

/** Returns the server's content that can be indexed or searched. */
export function offerWords(capabilities: ProviderServer["capabilities"] | undefined): string | undefined {
  if (!capabilities) return undefined;
  const { tools, resources } = capabilities;
  if (tools && resources) return "Tools and resources";
  return tools ? "Tools" : resources ? "Resources" : "Neither tools nor resources";
}

/** Returns the number of connections that the person can see. */
export function connectionCount({ counts }: Pick<ProviderServer, "counts">): string {
  return counts.connections === 0 ? "None" : plural(counts.connections, "connection");
}

/** Returns the notice for a person who returns from connecting; undefined for a person who just opened the page. */
export function returnNotice(
  status: string | undefined,
  reason: string | undefined,
): { tone: "ok" | "info" | "danger"; text: string } | undefined {
  if (status === "connected") return { tone: "ok", text: "You are connected." };
  if (status === "cancelled") return { tone: "info", text: "Nothing was connected." };
  if (status !== "failed") return undefined;
  const why =
    reason === "other_account"
      ? "You signed in with a different account. "
      : reason === "server_changed"
        ? "An admin changed the server while you were signing in. "
        : "";
  return { tone: "danger", text: `Nothing was connected. ${why}Try again.` };
}

/** The sentences that describe what kb uses each tool for. */
export const ROLE_WORDS: Readonly<
  Record<MappingRole, { title: string; about: string; argument: string; value: string }>
> = {
  list: {
    title: "List everything",
    about: "Connectors on this server index what the tool lists.",
    argument: "Argument for the cursor",
    value: "Cursor to try",
  },
  search: {
    title: "Search live",
    about: "People with a connection can search with it, without an index.",
    argument: "Argument for the query",
    value: "Query to try",
  },
  fetch: {
    title: "Read one entry",
    about: "It returns the text of an entry that was listed or found.",
    argument: "Argument for the ID",
    value: "ID to try",
  },
};

/** Describes one tool that kb calls with a connection, with all arguments, for the connection's owner. */
export function callWords({ role, tool, args, argument }: Connection["tools"][number]): string {
  const fixed = Object.entries(args).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const varied = argument === undefined ? [] : [`${argument}: ${VARIED[role]}`];
  return `${ROLE_WORDS[role].title}: ${tool}(${[...fixed, ...varied].join(", ")})`;
}

const VARIED: Readonly<Record<MappingRole, string>> = {
  list: "the place in the list",
  search: "your words",
  fetch: "the entry's ID",
};

/** Why a tool is no longer used. */
export const FAULT_WORDS: Readonly<Record<MappingFault["reason"], string>> = {
  tool_gone: "The server doesn't have this tool any more, so kb uses none.",
  tool_changed: "The server has changed this tool, so kb doesn't call it. Review it, then choose it again.",
  argument_missing: "The tool needs more arguments.",
  argument_unknown: "The tool has no argument of that name.",
};
