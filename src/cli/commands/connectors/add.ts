import { isAbsolute, resolve } from "node:path";
import type { BodyOf } from "#api/client.ts";
import { defaultConnectorName, distinctName } from "#api/connector-name.ts";
import type { Api } from "#cli/calls/api.ts";
import { route, type CommandData, type InputOf } from "#cli/line/command.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { accessOf } from "#cli/records/find.ts";
import type { JsonSchema, SourceKind } from "#cli/records/records.ts";
import { describeSync, exitOfSync, watchSync } from "#cli/records/sync-watch.ts";
import { defined } from "#core/defined.ts";
import { didYouMean, parseDuration, parsePair, readJsonObject } from "#cli/line/values.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { askCredentials, askSettings } from "./questions.ts";
import {
  ACCESS_OPTIONS,
  CREDENTIAL_OPTIONS,
  SCOPE_OPTIONS,
  SET_OPTION,
  WAIT_OPTIONS,
  credentialsOf,
  scheduleOf,
} from "./options.ts";

const ADD = {
  summary: "Connect a source; its first sync starts at once.",
  details:
    "On a terminal, it asks for missing settings and secrets. Only you can see the items unless you set --access.",
  arguments: { "<provider>": "filesystem, push, … (kb connectors sources)" },
  options: {
    "--name <name>": "the connector's name (default: taken from its settings)",
    ...SET_OPTION,
    "--config <file>": "settings as a JSON object from a file, or - for stdin",
    "--from-json <file>":
      "the whole connector as JSON, as in the API, from a file or - for stdin; other options override it",
    ...CREDENTIAL_OPTIONS,
    ...ACCESS_OPTIONS,
    ...SCOPE_OPTIONS,
    ...WAIT_OPTIONS,
  },
  examples: [
    "kb connectors add filesystem --set root=./docs --access workspace --wait",
    "kb connectors add push --name tickets",
    "kb connectors add webdav --from-json connector.json --wait",
  ],
  exitCodes: [5, 8, 9, 130],
  fields: [route("post", "/api/connectors", "connector"), route("post", "/api/connectors")],
} as const satisfies CommandData;

type AddInput = InputOf<typeof ADD>;
type CreateBody = BodyOf<"post", "/api/connectors">;

/** `kb connectors add PROVIDER`: reads values from --set and --config; on a terminal it asks for the missing settings of the source. */
export const addConnector = remoteCommand(ADD, async ({ api, output, args, options, deps }) => {
  const { sources } = await api.get("/api/connectors/sources");
  const source = findSource(sources, args.provider);
  const base = await baseFor(source, { args, options }, deps);
  const config = await configFor(source, base.config ?? {}, { args, options }, deps);
  const { include, exclude } = options;
  const body: CreateBody = {
    ...base,
    providerId: source.providerId,
    name: options.name ?? base.name ?? (await freeName(api, defaultConnectorName(source, config))),
    config,
    access: (await accessOf(api, options)) ?? base.access ?? { visibility: "private" },
    ...defined({
      scope: include.length + exclude.length > 0 ? { include, exclude } : undefined,
      schedule: scheduleOf(options),
      ...(await credentialsOf(options, deps)),
    }),
  };
  const hasSignIn = body.credentials !== undefined || body.accountId !== undefined || body.connectionId !== undefined;
  if (!hasSignIn && !isOnServer(source, config) && canAsk(deps, options)) {
    const credentials = await askCredentials(source, deps.prompts);
    if (credentials !== undefined) body.credentials = credentials;
  }
  const made = await api.post("/api/connectors", { body });
  output.result(made, ({ key, connector: { id, name }, warnings = [] }) => {
    output.line(key ?? id);
    output.talk(`Connector "${name}" is ${id}.`);
    for (const warning of warnings) output.talk(`Warning: ${warning}`);
    return key === undefined ? undefined : "Its key is shown only once: store it now.";
  });
  if (!options.wait || made.sync === null) return EXIT.ok;
  const timeoutMs = parseDuration(options.timeout ?? "0", "--timeout");
  const sync = await watchSync(api, deps, made.connector.name, made.sync, timeoutMs);
  output.talk(describeSync(sync));
  return exitOfSync(sync);
});

/** Whether a setting is a path on the server's own machine, which requires no sign-in. */
function isOnServer({ configSchema }: SourceKind, config: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(configSchema.properties ?? {}).some(([key, { localPath }]) => {
    const value = config[key];
    return localPath !== undefined && typeof value === "string" && isAbsolute(value);
  });
}

/** Returns a name that no connector visible to this person uses. */
async function freeName(api: Api, name: string): Promise<string> {
  const { connectors } = await api.get("/api/connectors", { params: { query: { limit: 200 } } });
  return distinctName(
    name,
    connectors.map((connector) => connector.name),
  );
}

/**
 * Converts the value of a `--set` to the type in the source's schema.
 *
 * @throws CliFailure (usage) when the key is unknown or the text doesn't fit
 */
export function typedValue(schema: JsonSchema, key: string, text: string): unknown {
  const properties = schema.properties ?? {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) {
    const known = Object.keys(properties);
    throw usageFailure(
      `--set ${key}: there is no such setting.${didYouMean(key, known)}`,
      `Settings: ${known.join(", ")}.`,
    );
  }
  const types = [property.type ?? "string"].flat();
  if (types.includes("string")) return text;
  if (types.includes("boolean")) {
    if (text === "true" || text === "false") return text === "true";
    throw usageFailure(`--set ${key}: "${text}" is not true or false.`);
  }
  if (types.includes("integer") || types.includes("number")) {
    if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
    throw usageFailure(`--set ${key}: "${text}" is not a number.`);
  }
  if (types.includes("array") && !text.trim().startsWith("[")) return text.split(",").map((part) => part.trim());
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw usageFailure(`--set ${key}: not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`);
  }
}

function findSource(sources: readonly SourceKind[], word: string): SourceKind {
  const found = sources.find((source) => source.providerId === word);
  if (found !== undefined) return found;
  const ids = sources.map((source) => source.providerId);
  throw usageFailure(`There is no source "${word}".${didYouMean(word, ids)}`, `Sources: ${ids.join(", ")}.`);
}

/** Reads the content of `--from-json`; the server checks it. */
async function baseFor({ providerId }: SourceKind, input: AddInput, deps: Deps): Promise<Partial<CreateBody>> {
  const file = input.options.fromJson;
  if (file === undefined) return {};
  const base = (await readJsonObject(file, "--from-json", deps)) as Partial<CreateBody>; // checked by the server
  if (base.providerId === undefined || base.providerId === providerId) return base;
  throw usageFailure(`--from-json ${file} describes a connector of ${base.providerId}, not of ${providerId}.`);
}

async function configFor(
  source: SourceKind,
  base: Readonly<Record<string, unknown>>,
  input: AddInput,
  deps: Deps,
): Promise<Record<string, unknown>> {
  const file = input.options.config;
  const config = { ...base, ...(file === undefined ? {} : await readJsonObject(file, "--config", deps)) };
  for (const text of input.options.set) {
    const [key, value] = parsePair(text, "--set");
    config[key] = typedValue(source.configSchema, key, value);
  }
  const { required = [], properties = {} } = source.configSchema;
  const isKnown = (key: string) => input.options.account !== undefined && properties[key]?.fromAccount !== undefined;
  const missing = required.filter((key) => config[key] === undefined && !isKnown(key));
  if (missing.length > 0 && !canAsk(deps, input.options)) {
    throw usageFailure(
      `${source.providerId} needs ${missing.join(", ")}.`,
      `Add ${missing.map((key) => `--set ${key}=…`).join(" ")}.`,
    );
  }
  for (const [key, text] of Object.entries(await askSettings(missing, source, deps.prompts))) {
    config[key] = typedValue(source.configSchema, key, text);
  }
  // A path is relative to the current directory of this process. The server has another working directory.
  for (const [key, { localPath }] of Object.entries(properties)) {
    const value = config[key];
    if (typeof value !== "string") continue;
    const isPath = localPath === "always" || (localPath === "dotted" && /^\.{1,2}(?:\/|$)/.test(value));
    if (isPath) config[key] = resolve(deps.cwd, value);
  }
  return config;
}
