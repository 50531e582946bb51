/** Options shared by several commands of `kb servers`, and their conversion. */
import type { BodyOf, DataOf } from "#api/client.ts";
import { oneOf, type OptionsData, type OptionsOf, several } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { duration, type Output } from "#cli/terminal/output.ts";
import { flexible, optional } from "#cli/terminal/table.ts";
import { readSecret } from "#cli/line/values.ts";
import type { ServerRecord } from "./find.ts";

export const AUTH_OPTIONS = {
  "--auth <kind>": oneOf(
    ["none", "bearer", "header", "oauth"],
    "how kb signs in: nothing, a bearer token, a key in a header, or OAuth for each person",
  ),
  "--header <name>": "with --auth header: the header's name, such as X-Api-Key",
  "--client-id <id>": "with --auth oauth: the ID of a client that you registered at the provider",
  "--secret <reference>": "the server's own token, key or client secret: @FILE, env:VARIABLE or - for stdin",
} as const satisfies OptionsData;

/** Options for who a connection is shared with. */
export const SHARE_OPTIONS = {
  "--access <visibility>": oneOf(["private", "members", "workspace"], "who can see what the connection reads"),
  "--member <member>": several("with --access members: a member, by id, email or name; may be repeated"),
  "--group <group>": several("with --access members: a group, by id or name; may be repeated"),
} as const satisfies OptionsData;

type AuthBody = BodyOf<"post", "/api/mcp-servers">["auth"];

/**
 * Makes the `auth` of a body; undefined when no option concerns it.
 *
 * @param known how kb currently signs in to the server; fields without an option stay unchanged
 */
export async function authOf(
  options: OptionsOf<typeof AUTH_OPTIONS> & { dropSecret?: boolean },
  deps: Deps,
  known?: { kind: AuthBody["kind"]; headerName?: string | undefined; clientId?: string | undefined },
): Promise<AuthBody | undefined> {
  const { header, clientId } = options;
  const reference = options.secret;
  const kind =
    options.auth ?? impliedKind(options, known?.kind) ?? (options.dropSecret === true ? known?.kind : undefined);
  if (kind === undefined) return undefined;
  refuseOthers(kind, options);
  const typed = reference === undefined ? undefined : await readSecret(reference, "--secret", deps);
  const secret = options.dropSecret === true ? null : typed;
  switch (kind) {
    case "none":
      return { kind };
    case "bearer":
      return { kind, secret };
    case "header": {
      const headerName = header ?? known?.headerName;
      if (headerName === undefined) throw usageFailure("--auth header needs the header's name.", "Add --header NAME.");
      return { kind, headerName, secret };
    }
    case "oauth":
      return { kind, clientId: clientId ?? known?.clientId, secret };
  }
}

/**
 * Returns the kind of sign-in that the options imply: `--header` and `--client-id` determine it; `--secret` alone means a bearer token unless the
 * server has another kind.
 */
function impliedKind(
  { header, clientId, secret }: OptionsOf<typeof AUTH_OPTIONS>,
  known: AuthBody["kind"] | undefined,
): AuthBody["kind"] | undefined {
  if (header !== undefined) return "header";
  if (clientId !== undefined) return "oauth";
  if (secret === undefined) return undefined;
  return known === undefined || known === "none" ? "bearer" : known;
}

function refuseOthers(kind: AuthBody["kind"], { header, clientId, secret }: OptionsOf<typeof AUTH_OPTIONS>): void {
  if (clientId !== undefined && kind !== "oauth") throw usageFailure("--client-id requires --auth oauth.");
  if (header !== undefined && kind !== "header") throw usageFailure("--header requires --auth header.");
  if (secret !== undefined && kind === "none") throw usageFailure("--secret can't be combined with --auth none.");
}

export type ServerTest = DataOf<"post", "/api/mcp-servers/connection-tests">;

/** Prints the steps of a test and its findings. */
export function printTest(test: ServerTest, output: Output): void {
  output.table(
    test.steps,
    {
      step: "step",
      result: ({ ok }) => (ok ? "ok" : "failed"),
      took: { value: "ms", shown: ({ ms }) => duration(ms) },
      problem: optional(flexible(({ problem }) => problem?.message)),
    },
    "Nothing was tried.",
  );
  for (const line of foundBy(test)) output.talk(line);
}

/** Describes the admin's next step at the provider where people sign in; undefined for a server without OAuth. */
export function registrationLine({ id, auth }: ServerRecord, test?: ServerTest): string | undefined {
  const { clientId, redirectUrl } = auth;
  if (redirectUrl === undefined) return undefined;
  if (clientId !== undefined) return `Set the redirect URL of its client at the provider to ${redirectUrl}`;
  if (test?.authRequired?.needsClient !== true)
    return `To register kb at the provider yourself, use the redirect URL ${redirectUrl}`;
  return `${SELF_REFUSED} Register kb there with the redirect URL ${redirectUrl}, then: kb servers update ${id} --client-id CLIENT_ID`;
}

const SELF_REFUSED = "The provider doesn't let clients register themselves.";

/** Describes what a test found out about the server, in one or two lines. */
function foundBy({ ok, serverInfo, protocolVersion, capabilities, authRequired }: ServerTest): string[] {
  const lines: string[] = [];
  if (serverInfo !== undefined) {
    const offers = capabilities === undefined ? "" : `, offers ${offersOf(capabilities)}`;
    const revision = protocolVersion === undefined ? "" : `, MCP ${protocolVersion}`;
    lines.push(`It is ${serverInfo.title ?? serverInfo.name} ${serverInfo.version}${revision}${offers}.`);
  }
  if (authRequired !== undefined) {
    const { authorizationServers, needsClient, problem } = authRequired;
    const where = authorizationServers.length === 0 ? "" : ` at ${authorizationServers.join(", ")}`;
    if (problem !== undefined) lines.push(problem.message);
    else lines.push(ok ? `Each person signs in${where}.` : `It asks you to sign in${where}: try --auth oauth.`);
    if (needsClient === true)
      lines.push(`${SELF_REFUSED} "kb servers add" and "kb servers show" print the redirect URL to register.`);
  }
  return lines;
}

export function offersOf({ tools, resources }: { tools: boolean; resources: boolean }): string {
  if (tools && resources) return "tools and resources";
  return tools ? "tools" : resources ? "resources" : "neither tools nor resources";
}

export function exitOfTest({ ok }: ServerTest): number {
  return ok ? EXIT.ok : EXIT.failure;
}
