/** Options shared by several commands of `kb connectors`, and their conversion. */
import type { BodyOf } from "#api/client.ts";
import { oneOf, type OptionsData, type OptionsOf, several } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";
import { parseDuration, parsePair, readSecret } from "#cli/line/values.ts";

export const CREDENTIAL_OPTIONS = {
  "--credential <key=reference>": several(
    "a secret, given by reference: key=@FILE, key=env:VARIABLE or key=-; may be repeated",
  ),
  "--account <id>": "use a connected account: acc_…",
  "--connection <id>": "use a connection: cnx_…",
} as const satisfies OptionsData;

export const ACCESS_OPTIONS = {
  "--access <visibility>": oneOf(["private", "members", "workspace", "source"], "who can see its items"),
  "--member <member>": several("with --access members: a member, by id, email or name; may be repeated"),
  "--group <group>": several("with --access members: a group, by id or name; may be repeated"),
  "--every <duration>": "how often to sync: 30m, 6h, or never",
} as const satisfies OptionsData;

export const SCOPE_OPTIONS = {
  "--include <pattern>": several("include only what matches; may be repeated"),
  "--exclude <pattern>": several("leave out what matches; may be repeated"),
} as const satisfies OptionsData;

export const SET_OPTION = {
  "--set <key=value>": several("a setting of the source; may be repeated"),
} as const satisfies OptionsData;

export const WAIT_OPTIONS = {
  "--wait": "wait until the sync ends, and show its progress",
  "--timeout <duration>": "the longest time to wait, such as 10m (default: no limit)",
} as const satisfies OptionsData;

/** The request bodies with credentials. */
type CredentialBody =
  | BodyOf<"post", "/api/connectors" | "/api/connectors/browse">
  | BodyOf<"patch", "/api/connectors/{id}">;

/** Makes the `credentials` of a body from references to secrets, so that no secret is in argv. */
export async function credentialsOf(
  options: OptionsOf<typeof CREDENTIAL_OPTIONS>,
  deps: Deps,
): Promise<Pick<CredentialBody, "credentials" | "accountId" | "connectionId">> {
  const pairs = options.credential.map((text) => parsePair(text, "--credential"));
  const entries = await Promise.all(
    pairs.map(async ([key, reference]) => [key, await readSecret(reference, `--credential ${key}`, deps)] as const),
  );
  return {
    credentials: entries.length > 0 ? Object.fromEntries(entries) : undefined,
    accountId: options.account,
    connectionId: options.connection,
  };
}

/** Makes the `schedule` of a body from `--every 30m` or `--every never`; undefined when the option is absent. */
export function scheduleOf({ every }: OptionsOf<typeof ACCESS_OPTIONS>): { everyMinutes: number } | null | undefined {
  if (every === undefined) return undefined;
  return every === "never" ? null : { everyMinutes: Math.max(1, Math.round(parseDuration(every, "--every") / 60_000)) };
}
