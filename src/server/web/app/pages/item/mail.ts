/** What a stored mail says, without the lines of its head: those are fields of the item. */
export function mailBodyOf(text: string): string {
  return text.replace(/^(?:(?:From|To|Cc|Date|Subject): .*(?:\n|$))+/, "").replace(/^\n+/, "");
}

/** Lines that belong together: what is said, and what is quoted from an earlier mail, with its depth. */
export interface MailPiece {
  depth: number;
  text: string;
}

/** Deeper quotations are shown as deep as that. */
const DEEPEST = 4;

/** The body in runs of the same depth of quotation. */
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
