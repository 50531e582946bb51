import { singleSpaced } from "#extract/clean.ts";
import { twoDigits } from "#extract/iso-time.ts";
import { percentText, plain } from "./number-format.ts";
import { withShownWords } from "./number-literals.ts";
import type { Attributes } from "./xml.ts";

/** An OpenDocument cell while it is read. */
export interface OdfCell {
  attributes: Attributes;
  /** The text that the cell shows. */
  text: string;
  repeats: number;
}

/** Returns the value of a cell: dates in ISO 8601, plain numbers, otherwise the text that is shown. */
export function odfCellText({ attributes, text }: Pick<OdfCell, "attributes" | "text">): string {
  const shown = singleSpaced(text);
  const value = attributes["office:value"] ?? "";
  switch (attributes["office:value-type"] ?? attributes["calcext:value-type"]) {
    case "float":
    case "currency":
      // Leading zeros are part of a number such as a postal code.
      return value === "" || /^0\d/u.test(shown) ? shown : withShownWords(numberText(value), shown);
    case "percentage":
      return value === "" ? shown : percentText(Number(value));
    case "date":
      return (attributes["office:date-value"] ?? shown).replace(/T00:00:00(?:\.0*)?$/u, "").replace("T", " ");
    case "time":
      return timeText(attributes["office:time-value"] ?? "") ?? shown;
    case "boolean":
      return (attributes["office:boolean-value"] ?? shown).toUpperCase();
    default:
      return shown === "" ? (attributes["office:string-value"] ?? "") : shown;
  }
}

function numberText(value: string): string {
  const number = Number(value);
  return Number.isFinite(number) ? plain(number) : value;
}

/** Converts `PT12H34M56.7S` to `12:34:56`. */
function timeText(value: string): string | undefined {
  const parts = /^(-?)PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S$/u.exec(value);
  if (parts === null) return undefined;
  const [, sign = "", hours = "", minutes = "", seconds = ""] = parts;
  return sign + [hours, minutes, seconds].map(twoDigits).join(":");
}
