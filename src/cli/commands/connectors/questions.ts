/** Terminal prompts for a source's settings and secrets, from the server's schemas. */
import type { Prompts } from "#cli/host/deps.ts";
import type { JsonSchema, SourceKind } from "#cli/records/records.ts";

/** Asks for settings. Returns texts for `typedValue`. */
export async function askSettings(
  keys: readonly string[],
  { configSchema }: Pick<SourceKind, "configSchema">,
  prompts: Prompts,
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const key of keys) answers[key] = await askSetting(key, configSchema.properties?.[key] ?? {}, prompts);
  return answers;
}

async function askSetting(key: string, property: JsonSchema, prompts: Prompts): Promise<string> {
  const question = questionOf(key, property);
  const choices = (property.enum ?? []).map(String);
  if (choices.length > 0) {
    return prompts.select(
      question,
      choices.map((value) => ({ value, label: value })),
    );
  }
  return property.type === "boolean" ? String(await prompts.confirm(question)) : prompts.text(question);
}

/**
 * Asks for the secrets of a source, in order; optional ones may be left empty. If the source can be read without signing in, it first asks whether to
 * sign in. If there are several ways to sign in, it asks for the first secret.
 *
 * @returns the secrets; undefined when there is nothing to send
 */
export async function askCredentials(
  { name, authTypes, credentialsSchema }: Pick<SourceKind, "name" | "authTypes" | "credentialsSchema">,
  prompts: Prompts,
): Promise<Record<string, string> | undefined> {
  // The server sends the JSON Schema of an object whose values are strings.
  const { properties = {}, required = [] } = (credentialsSchema ?? {}) as JsonSchema;
  if (!authTypes.includes("credentials")) return undefined;
  if (authTypes.includes("none") && !(await prompts.confirm(`Sign in to ${name}?`))) return undefined;
  const answers: Record<string, string> = {};
  for (const [key, property] of required.length === 0 ? [] : Object.entries(properties)) {
    const hint = required.includes(key) ? "" : " Leave it empty if it isn't needed.";
    const ask = property.format === "password" ? prompts.password : prompts.text;
    const answer = await ask(questionOf(key, property) + hint);
    if (answer !== "" || required.includes(key)) answers[key] = answer;
  }
  const [first] = Object.keys(properties);
  if (required.length === 0 && first !== undefined && !authTypes.includes("none")) {
    const answer = await prompts.password(questionOf(first, properties[first] ?? {}));
    if (answer !== "") answers[first] = answer;
  }
  return Object.keys(answers).length === 0 ? undefined : answers;
}

function questionOf(key: string, { title = key, description }: JsonSchema): string {
  return description === undefined ? title : `${title}: ${description}`;
}
