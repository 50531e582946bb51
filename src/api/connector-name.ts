/** What a connector is called unless told: the last part of its first required setting, else its source's name. */
export function defaultConnectorName(
  { name, configSchema: { required } }: { name: string; configSchema: { required?: unknown } },
  config: Readonly<Record<string, unknown>>,
): string {
  const keys: readonly unknown[] = Array.isArray(required) ? required : [];
  const first = keys.map((key) => config[String(key)]).find((value) => typeof value === "string");
  const last = typeof first === "string" ? (first.split(/[/\\]/).filter(Boolean).at(-1) ?? "") : "";
  return last === "" ? name : last.slice(0, 80);
}
