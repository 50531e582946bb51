/** Options shared by several commands of `kb connectors`, and their conversion. */
import type { BodyOf } from "#api/client.ts";
import type { OptionData, OptionsOf } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { parseDuration, parsePair, readSecret } from "#cli/values.ts";

export const CREDENTIAL_OPTIONS = [
  {
    flags: "--credential <key=reference>",
    summary: "a secret by reference: key=@FILE, key=env:VARIABLE or key=-; may be repeated",
    repeatable: true,
  },
  { flags: "--account <id>", summary: "use a connected account: acc_…" },
  { flags: "--connection <id>", summary: "use a connection: cnx_…" },
] as const satisfies readonly OptionData[];

export const ACCESS_OPTIONS = [
  {
    flags: "--access <visibility>",
    summary: "who can see its items",
    choices: ["private", "members", "workspace", "source"],
  },
  { flags: "--member <member>", summary: "with members: id, email or name; may be repeated", repeatable: true },
  { flags: "--group <group>", summary: "with members: id or name; may be repeated", repeatable: true },
  { flags: "--every <duration>", summary: "how often to sync: 30m, 6h, or never" },
] as const satisfies readonly OptionData[];

export const SCOPE_OPTIONS = [
  { flags: "--include <pattern>", summary: "include only these; may be repeated", repeatable: true },
  { flags: "--exclude <pattern>", summary: "leave these out; may be repeated", repeatable: true },
] as const satisfies readonly OptionData[];

export const SET_OPTION = {
  flags: "--set <key=value>",
  summary: "a setting of the source; may be repeated",
  repeatable: true,
} as const satisfies OptionData;

export const WAIT_OPTIONS = [
  { flags: "--wait", summary: "wait until it ends, and show progress" },
  { flags: "--timeout <duration>", summary: "the longest time to wait, such as 10m (default: no limit)" },
] as const satisfies readonly OptionData[];

/** The request bodies with credentials. */
type CredentialBody =
  | BodyOf<"post", "/api/connectors" | "/api/connectors/browse">
  | BodyOf<"patch", "/api/connectors/{id}">;

/** Returns the `credentials` of a body, read by reference: never a secret in argv. */
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

/** Returns the `schedule` of a body: `--every 30m`, `--every never`; undefined when the option is absent. */
export function scheduleOf({ every }: OptionsOf<typeof ACCESS_OPTIONS>): { everyMinutes: number } | null | undefined {
  if (every === undefined) return undefined;
  return every === "never" ? null : { everyMinutes: Math.max(1, Math.round(parseDuration(every, "--every") / 60_000)) };
}
