import { oneLine } from "#extract/clean.ts";
import type { XmlHandler } from "./xml.ts";

/** A document's metadata. `title` and `language` have separate fields in the result. */
export type DocumentProperties = Record<string, string>;

/** Sets a property unless the value is empty or the property already has one. */
export function setProperty(properties: DocumentProperties, name: string, value: string): void {
  const line = DATES.has(name) ? rfc3339(value) : oneLine(value.slice(0, 4_000), 500);
  if (line !== undefined && line !== "") properties[name] ??= line;
}

/** Makes a reader that sets the properties contained in elements of these names. @param decode  converts the text of an element to its value */
export function propertyReader(
  properties: DocumentProperties,
  names: ReadonlyMap<string, string>,
  decode = (text: string) => text,
): Required<Pick<XmlHandler, "open" | "text" | "close">> {
  let text = "";
  return {
    open: () => void (text = ""),
    text: (data) => void (text.length < 4_000 && (text += data)),
    close(name) {
      const property = names.get(name);
      if (property !== undefined) setProperty(properties, property, decode(text));
      text = "";
    },
  };
}

/** Returns the fields of a result that come from the properties. */
export function resultProperties({ title, language, ...properties }: DocumentProperties) {
  const code = /^[a-z]{2}(?=$|[-_])/iu.exec(language ?? "")?.[0]?.toLowerCase();
  return { properties, title, language: code };
}

/** Converts a date to RFC 3339, in UTC if the document has no time zone; undefined if it isn't a date. A date without a time stays without one. */
export function rfc3339(value: string): string | undefined {
  const parts = DATE.exec(value.trim());
  if (parts === null) return undefined;
  const [, day = "", time, fraction = "", zone = "Z"] = parts;
  if (Number.isNaN(Date.parse(day))) return undefined;
  if (time === undefined) return day;
  const withSeconds = time.length === 5 ? `${time}:00` : time;
  const withColon = /^[+-]\d{4}$/u.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const date = `${day}T${withSeconds}${/[1-9]/u.test(fraction) ? fraction.slice(0, 4) : ""}${withColon}`;
  return Number.isNaN(Date.parse(date)) ? undefined : date;
}

const DATES = new Set(["created", "modified", "printed"]);
const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?$/u;
