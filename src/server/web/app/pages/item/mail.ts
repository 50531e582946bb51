/** Returns the body of a stored mail, without its header lines, which are fields of the item. */
export function mailBodyOf(text: string): string {
  return text.replace(/^(?:(?:From|To|Cc|Date|Subject): .*(?:\n|$))+/, "").replace(/^\n+/, "");
}

/** Consecutive lines of the same kind: the message itself, or a quotation from an earlier mail, with its depth. */
export interface MailPiece {
  depth: number;
  text: string;
}

/** The maximum depth shown. Deeper quotations are shown at this depth. */
const DEEPEST = 4;

/** Splits the body into consecutive lines of the same quotation depth. */
export function quotationsOf(body: string): MailPiece[] {
  const pieces: { depth: number; lines: string[] }[] = [];
  for (const line of body.split("\n")) {
    const marks = /^(?:>[ ]?)*/.exec(line)?.[0] ?? "";
    const depth = Math.min(DEEPEST, marks.replaceAll(" ", "").length);
    const last = pieces.at(-1);
    const rest = depth === 0 ? line : line.slice(marks.length);
    if (last?.depth === depth) last.lines.push(rest);
    else pieces.push({ depth, lines: [rest] });
  }
  return pieces.map(({ depth, lines }) => ({ depth, text: lines.join("\n") }));
}
