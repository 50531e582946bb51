import { tidy } from "#sources/atlassian/tidy.ts";

/** Builds text: blocks separated by an empty line, and rows and list items on separate lines. */
export function makeOutput() {
  const parts: string[] = [];
  let length = 0;
  /** The number of line breaks to write before the next text. */
  let due = 0;
  let mark = "";
  let code = 0;
  let rows = 0;
  let cells = 0;
  let lists = 0;
  const links: { href: string; from: number; label: string }[] = [];

  function add(text: string): void {
    parts.push(text);
    length += text.length;
  }

  function write(text: string): void {
    if (due > 0 && length > 0) add("\n".repeat(due));
    add(mark + text);
    due = 0;
    mark = "";
  }

  function feed(lines: number): void {
    // A row is one line, whatever its cells contain.
    if (rows > 0 && code === 0) {
      if (length > 0 && due === 0 && mark === "" && !(parts.at(-1) ?? "").endsWith(" ")) add(" ");
      return;
    }
    // In a list, each item is a line.
    due = Math.max(due, lists > 0 && code === 0 ? 1 : lines);
  }

  return {
    length: () => length,
    text(data: string): void {
      const text = code > 0 ? data.replaceAll("\r", "") : data.replaceAll(/[\s\u00a0]+/g, " ");
      const isBlank = text.trim() === "";
      if (text === "" || (isBlank && (due > 0 || length === 0))) return;
      write(due > 0 && code === 0 ? text.trimStart() : text);
    },
    block(lead = ""): void {
      feed(2);
      mark = lead === "" ? mark : lead;
    },
    line(lead = ""): void {
      feed(1);
      mark = lead === "" ? mark : lead;
    },
    list(change: 1 | -1): void {
      feed(2);
      lists = Math.max(0, lists + change);
      feed(2);
    },
    /** Opens or closes a code fence, so that a line that looks like a heading in the code isn't treated as one. */
    code(isBegun: boolean): void {
      if (isBegun) {
        feed(2);
        if (code++ === 0) write("```");
        due = 1;
      } else if (code > 0) {
        due = 1;
        if (code-- === 1) write("```");
        feed(2);
      }
    },
    row(): void {
      if (rows === 0) due = Math.max(due, 1);
      rows++;
      cells = 0;
    },
    endRow(): void {
      rows = Math.max(0, rows - 1);
      if (rows === 0) due = Math.max(due, 1);
    },
    cell(): void {
      if (cells++ > 0) write((parts.at(-1) ?? "").endsWith(" ") ? "| " : " | ");
    },
    label(text: string): void {
      const link = links.at(-1);
      if (link) link.label = text;
    },
    /** Adds a person's name, on its own or as the text of a link. */
    person(name: string): void {
      const link = links.at(-1);
      if (link) link.label = name;
      else write(name);
    },
    link(href: string): void {
      links.push({ href, from: parts.length, label: "" });
    },
    endLink(): void {
      const link = links.pop();
      if (!link) return;
      // A long link text already shows the target, or isn't the link of a person.
      const shown = parts.slice(link.from, link.from + 50).join("");
      if (shown.trim() === "" && link.label !== "") write(link.label);
      else if (/^https?:/i.test(link.href) && !shown.includes(link.href)) write(` (${link.href})`);
    },
    end: (): string => tidy(parts.join("").replaceAll(/\p{Surrogate}/gu, "")),
  };
}
export type Output = ReturnType<typeof makeOutput>;
