/** The longest name. */
const MAX_CHARS = 80;

/** Returns this name, with a number appended when another connector has it. */
export function distinctName(name: string, taken: readonly string[]): string {
  const others = new Set(taken.map((one) => one.toLowerCase()));
  for (let number = 1; ; number++) {
    const end = number === 1 ? "" : ` ${number}`;
    const distinct = `${name.slice(0, MAX_CHARS - end.length).trimEnd()}${end}`;
    if (!others.has(distinct.toLowerCase())) return distinct;
  }
}

/** The default name of a connector: the last part of its first required setting, else its source's name. */
export function defaultConnectorName(
  { name, configSchema: { required } }: { name: string; configSchema: { required?: unknown } },
  config: Readonly<Record<string, unknown>>,
): string {
  const keys: readonly unknown[] = Array.isArray(required) ? required : [];
  const first = keys.map((key) => config[String(key)]).find((value) => typeof value === "string");
  const last = typeof first === "string" ? (first.split(/[/\\]/).filter(Boolean).at(-1) ?? "") : "";
  return last === "" ? name : last.slice(0, MAX_CHARS);
}
