import { resolve } from "node:path";
import { defaultConnectorName } from "#api/connector-name.ts";
import { connect } from "#cli/api.ts";
import { command, fieldsOf, type CommandData, type InputOf } from "#cli/command.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { usageFailure } from "#cli/failure.ts";
import { accessOf } from "#cli/find.ts";
import { makeOutput } from "#cli/output.ts";
import type { JsonSchema, SourceKind } from "#cli/records.ts";
import { describeSync, exitOfSync, watchSync } from "#cli/sync-watch.ts";
import { nearest, parseDuration, parsePair, readJsonObject } from "#cli/values.ts";
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
    "On a terminal it asks for the settings that are missing. Only you can see the items unless you set --access.",
  arguments: [{ name: "provider", summary: "filesystem, push, … (kb connectors sources)", required: true }],
  options: [
    { flags: "--name <name>", summary: "its name (default: from its settings)" },
    SET_OPTION,
    { flags: "--config <file>", summary: "settings as a JSON object from a file, or - for stdin" },
    ...CREDENTIAL_OPTIONS,
    ...ACCESS_OPTIONS,
    ...SCOPE_OPTIONS,
    ...WAIT_OPTIONS,
  ],
  examples: [
    "kb connectors add filesystem --set root=./docs --access workspace --wait",
    "kb connectors add push --name tickets",
  ],
  exitCodes: [4, 5, 7, 8, 9, 130],
  fields: [fieldsOf("post", "/api/connectors", "connector"), fieldsOf("post", "/api/connectors")],
  isRemote: true,
} as const satisfies CommandData;

type AddInput = InputOf<typeof ADD>;

/** `kb connectors add PROVIDER`: values from --set and --config; on a terminal it asks for what the source still needs. */
export const addConnector = command(ADD, async (input, deps): Promise<number> => {
  const api = await connect(input, deps);
  const { sources } = await api.get("/api/connectors/sources");
  const source = findSource(sources, input.args.provider);
  const config = await configFor(source, input, deps);
  const include = input.options.include;
  const exclude = input.options.exclude;
  const made = await api.post("/api/connectors", {
    body: {
      providerId: source.providerId,
      name: input.options.name ?? defaultConnectorName(source, config),
      config,
      access: (await accessOf(api, input.options)) ?? { visibility: "private" },
      scope: include.length + exclude.length > 0 ? { include, exclude } : undefined,
      schedule: scheduleOf(input.options),
      ...(await credentialsOf(input.options, deps)),
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(made, () => {
    output.line(made.key ?? made.connector.id);
    output.talk(`Connector "${made.connector.name}" is ${made.connector.id}.`);
    for (const warning of made.warnings ?? []) output.talk(`Warning: ${warning}`);
    if (made.key !== undefined) output.talk("Its key is shown only once: store it now.");
  });
  if (!input.options.wait || made.sync === null) return EXIT.ok;
  const timeoutMs = parseDuration(input.options.timeout ?? "0", "--timeout");
  const sync = await watchSync(api, deps, made.connector.name, made.sync, timeoutMs);
  output.talk(describeSync(sync));
  return exitOfSync(sync);
});

/**
 * The value of a `--set` in the type that the source's schema gives the key.
 *
 * @throws CliFailure (usage) when the key is unknown or the text does not fit
 */
export function typedValue(schema: JsonSchema, key: string, text: string): unknown {
  const properties = schema.properties ?? {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) {
    const near = nearest(key, Object.keys(properties));
    throw usageFailure(
      `--set ${key}: there is no such setting.${near === undefined ? "" : ` Did you mean ${near}?`}`,
      `Settings: ${Object.keys(properties).join(", ")}.`,
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
  const near = nearest(word, ids);
  throw usageFailure(
    `There is no source "${word}".${near === undefined ? "" : ` Did you mean ${near}?`}`,
    `Sources: ${ids.join(", ")}.`,
  );
}

async function configFor(source: SourceKind, input: AddInput, deps: Deps): Promise<Record<string, unknown>> {
  const file = input.options.config;
  const config = file === undefined ? {} : await readJsonObject(file, "--config", deps);
  for (const text of input.options.set) {
    const [key, value] = parsePair(text, "--set");
    config[key] = typedValue(source.configSchema, key, value);
  }
  const missing = (source.configSchema.required ?? []).filter((key) => config[key] === undefined);
  if (missing.length > 0 && !canAsk(deps, input.options)) {
    throw usageFailure(
      `${source.providerId} needs ${missing.join(", ")}.`,
      `Add ${missing.map((key) => `--set ${key}=…`).join(" ")}.`,
    );
  }
  for (const key of missing) {
    const property = source.configSchema.properties?.[key];
    const text = await deps.prompts.text(property?.description ?? key);
    config[key] = typedValue(source.configSchema, key, text);
  }
  // A path is relative to this directory; the server's working directory is another one.
  for (const [key, { localPath }] of Object.entries(source.configSchema.properties ?? {})) {
    const value = config[key];
    if (typeof value !== "string") continue;
    const isPath = localPath === "always" || (localPath === "dotted" && /^\.{1,2}(?:\/|$)/.test(value));
    if (isPath) config[key] = resolve(deps.cwd, value);
  }
  return config;
}
