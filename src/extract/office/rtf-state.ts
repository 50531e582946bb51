import type { LinkMark } from "#extract/link-addresses.ts";
import { twoDigits } from "#extract/iso-time.ts";
import type { RtfDestination } from "./rtf-words.ts";

/** The state inside a group, and the content that the group collects. */
export interface RtfGroup {
  destination: RtfDestination;
  /** The control words that hide the text, such as `v`. */
  hiddenBy: ReadonlySet<string>;
  font: number | undefined;
  skipAfterUnicode: number;
  isInfo: boolean;
  isEndnote: boolean;
  /** The control word with which this group became a destination. */
  begins: string | undefined;
  /** The destination, if its text is collected as paragraphs like the document's. */
  gathered: RtfDestination | undefined;
  sink: { text: string } | undefined;
  /** For a field: its instruction, and where its words began. */
  instruction: { text: string } | undefined;
  linkStart: number;
  date: Record<string, number> | undefined;
}

/** A sequence of paragraphs: the document's, a note's, a comment's. */
export interface RtfFlow {
  text: string;
  marks: LinkMark[];
  isInTable: boolean;
  heading: number | undefined;
  marker: string | undefined;
  depth: number;
  /** The innermost part of a table that is open. */
  table: "none" | "table" | "row" | "cell";
}

/** Makes the state of the outermost group. */
export function newGroup(): RtfGroup {
  return {
    destination: "text",
    hiddenBy: new Set(),
    font: undefined,
    skipAfterUnicode: 1,
    isInfo: false,
    isEndnote: false,
    begins: undefined,
    gathered: undefined,
    sink: undefined,
    instruction: undefined,
    linkStart: 0,
    date: undefined,
  };
}

/** Returns the control words that hide the text, with this word switched on or off. A group shares the set with the groups inside it. */
export function withHiding(hiddenBy: ReadonlySet<string>, word: string, isOn: boolean): ReadonlySet<string> {
  if (hiddenBy.has(word) === isOn) return hiddenBy;
  return new Set(isOn ? [...hiddenBy, word] : [...hiddenBy].filter((other) => other !== word));
}

/**
 * Returns the control words that still hide the text after a reset to plain text. The reset ends formatting and tracked changes, but doesn't show
 * text that is only for programs that don't read HTML.
 */
export function plainHiding(hiddenBy: ReadonlySet<string>): ReadonlySet<string> {
  return ["v", "deleted", "mvf"].reduce((rest, word) => withHiding(rest, word, false), hiddenBy);
}

/** Makes an empty flow. */
export function newFlow(): RtfFlow {
  return { text: "", marks: [], isInTable: false, heading: undefined, marker: undefined, depth: 0, table: "none" };
}

/** Makes a date of the properties from its parts. */
export function dateOf(parts: Readonly<Record<string, number>>): string {
  const two = (name: string, otherwise: number) => twoDigits(parts[name] ?? otherwise);
  return `${String(parts["yr"] ?? 0).padStart(4, "0")}-${two("mo", 1)}-${two("dy", 1)}T${two("hr", 0)}:${two("min", 0)}:${two("sec", 0)}`;
}

/** Whether the marker of an item is a sign that is neither a number nor a letter. */
export function isBullet(marker: string): boolean {
  return !/[\p{L}\p{N}]/u.test(marker) || /^[o§·]$/u.test(marker);
}
