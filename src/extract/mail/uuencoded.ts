import { oneLine } from "#extract/clean.ts";
import { fromUuencode } from "./transfer.ts";

interface TakenFile {
  fileName: string;
  mimeType: string;
  bytes: Uint8Array;
}

/** Finds files in the text of an email between `begin 644 name` and `end`, as programs sent them before attachments existed. */
export function takeUuencoded(text: string): { rest: string; files: TakenFile[] } {
  const files: TakenFile[] = [];
  const rest = text.replaceAll(
    /^begin(-base64)? \d{3,4} ([^\r\n]{1,200})\r?\n([\s\S]*?)\r?\n(?:end|={4})[ \t]*(?=\r?\n|$(?![\s\S]))/gmu,
    (whole: string, base64: string | undefined, name: string, lines: string) => {
      if (files.length >= MAX_FILES || (base64 === undefined && !looksUuencoded(lines))) return whole;
      const bytes = base64 === undefined ? fromUuencode(whole) : Buffer.from(lines, "base64");
      files.push({ fileName: oneLine(name, 200), mimeType: "application/octet-stream", bytes });
      return "";
    },
  );
  return { rest, files };
}

const MAX_FILES = 1_000;

/** Whether the lines look uuencoded: the first character of each line encodes its length. */
function looksUuencoded(lines: string): boolean {
  return lines.split(/\r?\n/u, 20).every((line) => /^[ -`]*\s*$/u.test(line));
}
