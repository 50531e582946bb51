/** A log line as a person reads it on a terminal: time, level, message, what there is to know. */
import { createColors } from "picocolors";

/** The JSON line of the log as one short line; a line that is no JSON stays as it is. */
export function formatForPeople(line: string, hasColour: boolean): string {
  const record = parse(line);
  if (record === undefined) return line;
  const colours = createColors(hasColour);
  const { level, time, msg, ...facts } = record;
  const name = typeof level === "string" ? level : "info";
  const paint = { debug: colours.dim, warn: colours.yellow, error: colours.red }[name] ?? colours.green;
  const clock = typeof time === "string" ? time.slice(11, 19) : "";
  const parts = [colours.dim(clock), paint(name.padEnd(5)), printable(shortened(String(msg ?? ""), MAX_MESSAGE_CHARS))];
  const details = Object.entries(facts).map(([key, value]) => `${key}=${printable(textOf(value))}`);
  return `${[...parts, ...details.map((detail) => colours.dim(detail))].join(" ")}\n`;
}

/** What a message and a fact may take of a line; the whole is in the JSON log. */
const MAX_MESSAGE_CHARS = 2_000;
const MAX_FACT_CHARS = 160;

function textOf(value: unknown): string {
  const isError = typeof value === "object" && value !== null && "message" in value;
  const text = isError ? String(value.message) : typeof value === "string" ? value : JSON.stringify(value);
  return shortened(text, MAX_FACT_CHARS);
}

function shortened(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
}

/** External text can neither move the cursor nor begin a line. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // An object that is neither null nor an array has string keys.
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Not one of the log's own lines.
    return undefined;
  }
}
