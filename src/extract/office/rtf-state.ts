import type { LinkMark } from "#extract/link-addresses.ts";
import { twoDigits } from "#extract/iso-time.ts";
import type { RtfDestination } from "./rtf-words.ts";

/** The state inside a group, and what it collects. */
export interface RtfGroup {
  destination: RtfDestination;
  /** The words that hide the text, such as `v`. */
  hiddenBy: ReadonlySet<string>;
  font: number | undefined;
  skipAfterUnicode: number;
  isInfo: boolean;
  isEndnote: boolean;
  /** The word with which this group became a destination. */
  begins: string | undefined;
  /** The destination, when its text is collected as paragraphs like the document's. */
  gathered: RtfDestination | undefined;
  sink: { text: string } | undefined;
  /** Of a field: its instruction, and where its words began. */
  instruction: { text: string } | undefined;
  linkStart: number;
  date: Record<string, number> | undefined;
}

/** A run of paragraphs: the document's, a note's, a comment's. */
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

/** The outermost group. */
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

/** The words that hide the text, with this word on or off; a group shares its set with those inside it. */
export function withHiding(hiddenBy: ReadonlySet<string>, word: string, isOn: boolean): ReadonlySet<string> {
  if (hiddenBy.has(word) === isOn) return hiddenBy;
  return new Set(isOn ? [...hiddenBy, word] : [...hiddenBy].filter((other) => other !== word));
}

/**
 * The words that still hide it after a reset to plain text: formatting and changes end there, but not text for other
 * programs than readers of HTML.
 */
export function plainHiding(hiddenBy: ReadonlySet<string>): ReadonlySet<string> {
  return ["v", "deleted", "mvf"].reduce((rest, word) => withHiding(rest, word, false), hiddenBy);
}

/** An empty text. */
export function newFlow(): RtfFlow {
  return { text: "", marks: [], isInTable: false, heading: undefined, marker: undefined, depth: 0, table: "none" };
}

/** A date of the properties from its parts. */
export function dateOf(parts: Readonly<Record<string, number>>): string {
  const two = (name: string, otherwise: number) => twoDigits(parts[name] ?? otherwise);
  return `${String(parts["yr"] ?? 0).padStart(4, "0")}-${two("mo", 1)}-${two("dy", 1)}T${two("hr", 0)}:${two("min", 0)}:${two("sec", 0)}`;
}

/** A sign in front of an item that is neither a number nor a letter. */
export function isBullet(marker: string): boolean {
  return !/[\p{L}\p{N}]/u.test(marker) || /^[o§·]$/u.test(marker);
}
