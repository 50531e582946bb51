/** A mail as it is stored: its head as lines, an empty line, what it says. */
export interface MailText {
  from?: string;
  to?: string;
  cc?: string;
  date?: string;
  subject?: string;
  body: string;
}

const NAMES = { From: "from", To: "to", Cc: "cc", Date: "date", Subject: "subject" } as const;

/** Takes the head off, as far as it is one; a text without gives only its body. */
export function readMailText(text: string): MailText {
  const mail: MailText = { body: text };
  let at = 0;
  for (;;) {
    const lineFeed = text.indexOf("\n", at);
    const line = text.slice(at, lineFeed < 0 ? text.length : lineFeed);
    const [, name, value] = /^(From|To|Cc|Date|Subject): (.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) break;
    // The pattern names exactly these.
    mail[NAMES[name as keyof typeof NAMES]] ??= value;
    at = lineFeed < 0 ? text.length : lineFeed + 1;
  }
  mail.body = text.slice(at).replace(/^\n+/, "");
  return mail;
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
