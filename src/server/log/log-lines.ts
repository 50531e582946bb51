/** Formats a log line for people on a terminal: time, level, message, details. */
import { asRecord, tryJson } from "#core/json-record.ts";
import { createColors } from "picocolors";

/** Formats a JSON log line as one short line. A line that isn't JSON stays unchanged. */
export function formatForPeople(line: string, hasColour: boolean): string {
  const record = asRecord(tryJson(line));
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

/** The maximum length of a message and of one detail in a line. The JSON log has the full text. */
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

/** Prevents external text from moving the cursor or starting a line. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}
