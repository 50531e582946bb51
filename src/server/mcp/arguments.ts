import { isRecord, tryJson } from "#core/json-record.ts";
import { ApiError } from "#api/errors.ts";
import { cleanLine } from "#api/clean.ts";
import { findJsonFault, MAX_JSON_DEPTH } from "#core/json-bounds.ts";
import { isNoCursor } from "#api/common.ts";
import { count } from "#api/plural.ts";
import { nearestName } from "./nearest-name.ts";
import { TOOL_KINDS, TOOL_LIMITS, type ToolName } from "#api/tools.ts";
import {
  ADDRESS_CHARS,
  ALIASES,
  type ArgumentRule,
  ARGUMENTS,
  FILTER_PLACEHOLDERS,
  HOST_ARGUMENTS,
  KIND_SYNONYMS,
  QUERY,
} from "./argument-rules.ts";

export type ArgumentValue = string | number | boolean | readonly string[];

export interface ReadArguments {
  /** The given arguments by their canonical names. Integers are always present, with their default. */
  values: Record<string, ArgumentValue>;
  /** The corrections that were made, one sentence each. */
  notes: string[];
}

/**
 * Reads the arguments of a tool call. Placeholders count as absent, and `"10"` is read as 10. Aliases and similar
 * values are accepted with a note, and numbers out of range are clamped with a note.
 *
 * @throws ApiError `unknown_argument` with the list of arguments; `invalid_argument` naming the right values
 */
export function readArguments(tool: ToolName, raw: unknown): ReadArguments {
  const rules = ARGUMENTS[tool];
  const result: ReadArguments = { values: {}, notes: [] };
  const received = withoutHostArguments(asRecord(tool, raw, result.notes), result.notes);
  for (const [name, value] of canonical(tool, received, result.notes)) {
    const rule = rules[name];
    if (rule === undefined) throw unknownArgument(tool, name);
    const read = readOne(name, rule, value, result.notes);
    if (read !== undefined) result.values[name] = read;
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (result.values[name] !== undefined) continue;
    if (rule.type === "integer") result.values[name] = rule.fallback;
    if (rule.type === "text" && rule.isRequired === true) throw missingArgument(tool, name);
    // An empty query requests the newest items, and filters work without a query. A call without any arguments may have
    // lost them on the way.
    if (rule === QUERY && Object.keys(received).length === 0)
      result.notes.push(`${name} is missing and was read as "".`);
  }
  return result;
}

function asRecord(tool: ToolName, raw: unknown, notes: string[]): Record<string, unknown> {
  if (isAbsent(raw)) return {};
  const read = typeof raw === "string" ? parseText(raw) : raw;
  if (isRecord(read)) {
    if (read !== raw) notes.push("arguments came as text and were read as JSON.");
    return { ...read };
  }
  throw new ApiError("invalid_argument", {
    message: `arguments of ${tool} must be an object such as {"${Object.keys(ARGUMENTS[tool])[0]}": "…"}.`,
  });
}

/** Parses a text as JSON. Returns undefined for any other text, and for JSON that is larger than arguments can be. */
function parseText(text: string): unknown {
  return findJsonFault(text, TEXT_BOUNDS) === undefined ? tryJson(text) : undefined;
}

const TEXT_BOUNDS = { maxDepth: MAX_JSON_DEPTH, maxMembers: 1000 };

function withoutHostArguments(received: Record<string, unknown>, notes: string[]): Record<string, unknown> {
  const added = Object.keys(received).filter((name) => HOST_ARGUMENTS.has(name));
  if (added.length === 0) return received;
  notes.push(`Ignored ${added.join(", ")}: added by the host, not part of this tool.`);
  return Object.fromEntries(Object.entries(received).filter(([name]) => !HOST_ARGUMENTS.has(name)));
}

/** Returns the given arguments under their canonical names. An alias is used only if the real name isn't given. */
function canonical(tool: ToolName, received: Record<string, unknown>, notes: string[]): [string, unknown][] {
  const all = Object.entries(received);
  const long = all.find(([name]) => name.length > TOOL_LIMITS.nameChars);
  if (long !== undefined) throw unknownArgument(tool, long[0]);
  const present = all.filter(([, value]) => !isAbsent(value));
  const names = new Set(present.map(([name]) => name));
  const result: [string, unknown][] = [];
  for (const [name, value] of present) {
    const target = Object.hasOwn(ARGUMENTS[tool], name) ? name : lookUp(ALIASES[tool], name);
    if (target === undefined) throw unknownArgument(tool, name);
    if (target === name) {
      result.push([name, value]);
    } else if (names.has(target)) {
      notes.push(`"${name}" was ignored because ${target} is given.`);
    } else {
      names.add(target);
      notes.push(`"${name}" was read as ${target}.`);
      result.push([target, value]);
    }
  }
  return result;
}

function isAbsent(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value === "string") return value.trim() === "";
  // A list in a list is treated as a value, so nested lists aren't traversed.
  if (Array.isArray(value)) return value.every((each) => !Array.isArray(each) && isAbsent(each));
  return typeof value === "object" && Object.keys(value).length === 0;
}

function readOne(name: string, rule: ArgumentRule, value: unknown, notes: string[]): ArgumentValue | undefined {
  if (rule.type !== "text") refuseLong(name, value);
  if (rule.type === "integer") return readInteger(name, rule, listOf(value), notes);
  if (rule.type === "boolean") return readBoolean(name, listOf(value));
  if (rule.type === "kinds") return readKinds(textsOf(name, listOf(value)), notes);
  const text = oneText(name, value);
  switch (rule.type) {
    case "cursor":
      return isNoCursor(text) ? undefined : text;
    case "choice":
      return isPlaceholder(text) ? undefined : readChoice(name, rule, text, notes);
    case "text":
      return rule.isFilter === true && isPlaceholder(text) ? undefined : readText(name, rule, text, notes);
  }
}

/**
 * Parses a list that was sent as JSON text. Only for arguments that aren't free text, because a query may begin with a
 * bracket.
 */
function listOf(value: unknown): unknown {
  if (typeof value !== "string" || !value.trimStart().startsWith("[")) return value;
  const read = parseText(value);
  return Array.isArray(read) ? read : value;
}

/** Refuses a value that is longer than any valid value, without parsing it. */
function refuseLong(name: string, value: unknown): void {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.some((each) => typeof each === "string" && each.length > ADDRESS_CHARS))
    throw invalid(name, `${name} is longer than ${ADDRESS_CHARS} characters.`);
}

function isPlaceholder(text: string): boolean {
  return FILTER_PLACEHOLDERS.has(text.toLowerCase());
}

function textsOf(name: string, value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > TOOL_LIMITS.values) {
    throw invalid(name, `${name} has ${values.length} values. Give at most ${TOOL_LIMITS.values}.`);
  }
  return values
    .filter((each) => !isAbsent(each))
    .map((each) => {
      if (typeof each === "string") return each.trim();
      if (typeof each === "number") return String(each);
      throw invalid(name, `${name} must be text, not ${describe(each)}.`);
    });
}

function oneText(name: string, value: unknown): string {
  const texts = textsOf(name, value);
  if (texts.length > 1) throw invalid(name, `${name} takes one value, not ${texts.length}. Call once for each.`);
  return texts[0] ?? "";
}

function readText(
  name: string,
  rule: { maxChars?: number; isCut?: boolean },
  text: string,
  notes: string[],
): string | undefined {
  const max = rule.maxChars ?? TOOL_LIMITS.valueChars;
  if (text === "") return undefined;
  if (text.length <= max) return text;
  if (rule.isCut !== true) throw invalid(name, `${name} is longer than ${max} characters.`);
  const head = text.slice(0, max);
  const atWord = head.slice(0, Math.max(head.search(/\s\S*$/), max / 2));
  const last = cleanLine(/\S+$/.exec(atWord.trimEnd())?.[0] ?? "", 40);
  notes.push(`${name} cut after ${count(max)} characters, at "${last}".`);
  return atWord.trimEnd();
}

function readInteger(
  name: string,
  rule: { min: number; max: number; fallback: number; isZeroAbsent?: boolean },
  value: unknown,
  notes: string[],
): number {
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof single === "string" && isPlaceholder(single.trim())) return rule.fallback;
  const number =
    typeof single === "number"
      ? single
      : typeof single === "string" && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(single)
        ? Number(single)
        : Number.NaN;
  if (!Number.isFinite(number)) {
    const range = rule.max > 1_000_000 ? `a number from ${rule.min} on` : `a number from ${rule.min} to ${rule.max}`;
    throw invalid(name, `${name} ${describe(single)} is not ${range}.`);
  }
  const clamped = Math.min(rule.max, Math.max(rule.min, Math.trunc(number)));
  const meant = number === 0 && rule.isZeroAbsent === true ? rule.fallback : clamped;
  if (meant !== Math.trunc(number)) notes.push(`${name} ${number} was read as ${meant}.`);
  return meant;
}

function readBoolean(name: string, value: unknown): boolean | undefined {
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof single === "boolean") return single;
  const text = typeof single === "string" || typeof single === "number" ? String(single).trim().toLowerCase() : "";
  if (/^(?:true|yes|1)$/.test(text)) return true;
  if (/^(?:false|no|0)$/.test(text)) return false;
  if (isPlaceholder(text)) return undefined;
  throw invalid(name, `${name} ${describe(single)} is not true or false.`);
}

function readChoice(
  name: string,
  rule: { values: readonly string[]; synonyms?: Readonly<Record<string, string>> },
  text: string,
  notes: string[],
): string {
  const asked = text.toLowerCase();
  if (rule.values.includes(asked)) return asked;
  const meant = rule.synonyms === undefined ? undefined : lookUp(rule.synonyms, asked);
  if (meant === undefined) throw notOneOf(name, text, rule.values);
  notes.push(`${name} "${asked}" was read as ${meant}.`);
  return meant;
}

function readKinds(texts: readonly string[], notes: string[]): readonly string[] | undefined {
  const kinds = new Set<string>();
  for (const text of texts.flatMap((each) => each.split(",")).map((each) => each.trim())) {
    const asked = text.toLowerCase();
    if (asked === "" || isPlaceholder(asked)) continue;
    const one = asked.replace(/s$/, "");
    const meant = isKind(asked)
      ? [asked]
      : isKind(one)
        ? [one]
        : (lookUp(KIND_SYNONYMS, asked) ?? lookUp(KIND_SYNONYMS, one));
    if (meant === undefined) throw notOneOf("kind", text, TOOL_KINDS);
    if (!isKind(asked)) notes.push(`kind "${asked}" was read as ${meant.join(" or ")}.`);
    for (const kind of meant) kinds.add(kind);
  }
  return kinds.size === 0 || kinds.size === TOOL_KINDS.length ? undefined : [...kinds].sort();
}

function isKind(text: string): boolean {
  return TOOL_KINDS.some((kind) => kind === text);
}

function lookUp<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function describe(value: unknown): string {
  if (typeof value === "string") return `"${cleanLine(value, 60)}"`;
  if (Array.isArray(value)) return "a list";
  return value === null || typeof value === "object" ? "an object" : String(value);
}

function invalid(field: string, message: string): ApiError {
  return new ApiError("invalid_argument", { field, message });
}

function notOneOf(name: string, text: string, values: readonly string[]): ApiError {
  return invalid(name, `${name} "${cleanLine(text, 60)}" is not one of ${values.join(", ")}.`);
}

function unknownArgument(tool: ToolName, name: string): ApiError {
  const takes = `${tool} takes ${Object.keys(ARGUMENTS[tool]).join(", ")}.`;
  if (name.length > TOOL_LIMITS.nameChars) {
    return new ApiError("unknown_argument", { message: `A name of ${name.length} characters. ${takes}` });
  }
  const near = nearestName(name, Object.keys(ARGUMENTS[tool]));
  return new ApiError("unknown_argument", {
    field: cleanLine(name, 60),
    message: `"${cleanLine(name, 60)}".${near === undefined ? "" : ` Did you mean ${near}?`} ${takes}`,
  });
}

function missingArgument(tool: ToolName, name: string): ApiError {
  const what =
    name === "kbId"
      ? "a kbId from kb_search, a URL, an issue key, a path or a title"
      : "an entityId, email, URL, name, or me";
  return invalid(name, `${name} is missing. ${tool} needs ${what}.`);
}
