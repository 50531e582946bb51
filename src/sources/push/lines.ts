import type { z } from "zod";
import { cleanText, cut } from "#api/clean.ts";
import { assertNever, type ErrorCode } from "#api/errors.ts";
import { findJsonFault } from "#core/json-bounds.ts";
import type { PushedLine } from "./events.ts";
import { PushLine, toEvent } from "./shape.ts";
import { splitLines, type RawLine } from "./split-lines.ts";

/** Source: S41. */
export const PUSH_LIMITS = { maxLineBytes: 1024 * 1024, maxDepth: 16, maxMembers: 40_000 } as const;

/**
 * Reads newline-delimited JSON as it arrives, with one line in memory at a time. A bad line yields an error and never
 * ends the stream. Blank lines are skipped, but counted. The caller decides whether a line may name its principals, and
 * whether they exist (`judgeAccess`).
 *
 * @param place  an item's `place`, if the line has none
 * @throws errors of the stream itself
 */
export async function* parsePushLines(
  stream: AsyncIterable<Uint8Array>,
  { place }: { place: string },
): AsyncGenerator<PushedLine, void> {
  for await (const raw of splitLines(stream, PUSH_LIMITS.maxLineBytes)) {
    const parsed = parseRawLine(raw, place);
    if (parsed !== undefined) yield parsed;
  }
}

/** Parses one line of text; `undefined` for a blank line. */
export function parsePushLine(text: string, line: number, place: string): PushedLine | undefined {
  if (text.trim() === "") return undefined;
  const refuse = (message: string, value?: unknown): PushedLine => refusal(line, "invalid_request", message, value);
  const fault = findJsonFault(text, PUSH_LIMITS);
  if (fault === "depth") return refuse(`The line nests deeper than ${PUSH_LIMITS.maxDepth} levels.`);
  if (fault === "members") return refuse(`The line has more than ${PUSH_LIMITS.maxMembers} keys and list entries.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message isn't used because it quotes the text. The line number is enough.
    return refuse("The line is not valid JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refuse("The line is not a JSON object.");
  if (hasPrototypeKey(value)) return refuse('The key "__proto__" is not allowed.', value);
  const parsed = PushLine.safeParse(value);
  if (!parsed.success) return refuse(describe(parsed.error), value);
  const { event, notes } = toEvent(parsed.data, place);
  switch (event.t) {
    case "upsert":
      return { ok: true, line, externalId: event.item.externalId, event, notes };
    case "access":
    case "seen":
    case "delete":
      return { ok: true, line, externalId: event.externalId, event, notes };
    case "identity":
    case "member":
    case "group":
      return { ok: true, line, externalId: null, event, notes };
    default:
      return assertNever(event);
  }
}

/** The most issues reported for one line. Each issue quotes names from the line, which may be any text. */
const MAX_ISSUES = 3;
const MAX_ISSUE_CHARS = 300;

function parseRawLine(raw: RawLine, place: string): PushedLine | undefined {
  if ("isTooLong" in raw) {
    return refusal(raw.line, "payload_too_large", `The line is longer than ${PUSH_LIMITS.maxLineBytes} bytes.`);
  }
  try {
    return parsePushLine(STRICT_UTF8.decode(raw.bytes), raw.line, place);
  } catch (cause) {
    if (cause instanceof TypeError) return refusal(raw.line, "invalid_request", "The line is not valid UTF-8.");
    throw cause;
  }
}

/** `fatal`, because a replaced byte would produce another id or another word. A byte order mark is dropped. */
const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true });

function refusal(line: number, code: ErrorCode, message: string, value?: unknown): PushedLine {
  const externalId = externalIdOf(value);
  const about = externalId === undefined ? {} : { externalId };
  return { ok: false, line, ...about, ...(isAboutPeople(value) && { isAboutPeople: true }), code, message };
}

function isAboutPeople(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("t" in value)) return false;
  return value.t === "identity" || value.t === "member" || value.t === "group";
}

/** Returns the intended id of a refused line, if it is known, so that the sender can find the line. */
function externalIdOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("item" in value) return externalIdOf(value.item);
  const isId = "externalId" in value && typeof value.externalId === "string" && value.externalId.length <= 1024;
  return isId ? String(value.externalId) : undefined;
}

function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototypeKey);
}

function describe(error: z.ZodError): string {
  const described = error.issues.slice(0, MAX_ISSUES).map((issue) => {
    const path = issue.path.map(String).join(".");
    const described = cut(issue.message, MAX_ISSUE_CHARS);
    return cleanText(path === "" ? described : `${cut(path, MAX_ISSUE_CHARS)}: ${described}`);
  });
  const more = error.issues.length - described.length;
  return `${described.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
}
