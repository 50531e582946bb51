import { resolve } from "node:path";
import { connect } from "#cli/api.ts";
import { argument, flagOption, listOption, textOption, type CommandInput } from "#cli/command.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { usageFailure } from "#cli/failure.ts";
import { accessOf } from "#cli/find.ts";
import { makeOutput } from "#cli/output.ts";
import type { JsonSchema, SourceKind } from "#cli/records.ts";
import { describeSync, exitOfSync, watchSync } from "#cli/sync-watch.ts";
import { nearest, parseDuration, parsePair, readJsonObject } from "#cli/values.ts";
import { credentialsOf, scheduleOf } from "./connectors.ts";

/** `kb connectors add PROVIDER`: values from --set and --config; on a terminal it asks for what the source still needs. */
export async function addConnector(input: CommandInput, deps: Deps): Promise<number> {
  const api = await connect(input, deps);
  const { sources } = await api.get("/api/connectors/sources");
  const source = findSource(sources, argument(input, 0));
  const config = await configFor(source, input, deps);
  const include = listOption(input, "include");
  const exclude = listOption(input, "exclude");
  const made = await api.post("/api/connectors", {
    body: {
      providerId: source.providerId,
      name: textOption(input, "name") ?? defaultName(source, config),
      config,
      access: (await accessOf(api, input)) ?? { visibility: "private" },
      scope: include.length + exclude.length > 0 ? { include, exclude } : undefined,
      schedule: scheduleOf(input),
      ...(await credentialsOf(input, deps)),
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(made, () => {
    output.line(made.key ?? made.connector.id);
    output.talk(`Connector "${made.connector.name}" is ${made.connector.id}.`);
    if (made.key !== undefined) output.talk("Its key is shown only once: store it now.");
  });
  if (!flagOption(input, "wait") || made.sync === null) return EXIT.ok;
  const timeoutMs = parseDuration(textOption(input, "timeout") ?? "0", "--timeout");
  const sync = await watchSync(api, deps, made.connector.name, made.sync, timeoutMs);
  output.talk(describeSync(sync));
  return exitOfSync(sync);
}

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

async function configFor(source: SourceKind, input: CommandInput, deps: Deps): Promise<Record<string, unknown>> {
  const file = textOption(input, "config");
  const config = file === undefined ? {} : await readJsonObject(file, "--config", deps);
  for (const text of listOption(input, "set")) {
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
  // A folder is named as seen from here; the server stands elsewhere in the tree.
  if (source.providerId === "filesystem" && typeof config["root"] === "string") {
    config["root"] = resolve(deps.cwd, config["root"]);
  }
  if (source.providerId === "git" && typeof config["url"] === "string" && /^\.{1,2}(?:\/|$)/.test(config["url"])) {
    config["url"] = resolve(deps.cwd, config["url"]);
  }
  return config;
}

function defaultName(source: SourceKind, config: Record<string, unknown>): string {
  const first = (source.configSchema.required ?? [])
    .map((key) => config[key])
    .find((value) => typeof value === "string");
  const name = typeof first === "string" ? (first.split(/[/\\]/).filter(Boolean).at(-1) ?? "") : "";
  return name === "" ? source.name : name.slice(0, 80);
}
