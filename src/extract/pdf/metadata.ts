import { oneLine } from "#extract/clean.ts";
import type { PdfDocument } from "./open.ts";

/** Returns the information dictionary as properties and `title`. Empty if it can't be read. */
export async function readMetadata(pdf: PdfDocument): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const metadata = await pdf.getMetadata().catch(() => undefined);
  if (metadata === undefined) return found;
  // The cast is safe because pdf.js returns a plain object whose values are strings, numbers, booleans or names.
  const info = metadata.info as Record<string, unknown>;
  for (const [key, name] of Object.entries(INFO_PROPERTIES)) {
    const value = info[key];
    if (typeof value !== "string") continue;
    const line = oneLine(name === "created" || name === "modified" ? isoDate(value) : value, 500);
    if (line !== "") found[name] = line;
  }
  return found;
}

const INFO_PROPERTIES: Readonly<Record<string, string>> = {
  Title: "title",
  Author: "author",
  Subject: "subject",
  Keywords: "keywords",
  Creator: "creator",
  CreationDate: "created",
  ModDate: "modified",
};

/** Converts `D:20240131120000+01'00'` to `2024-01-31T12:00:00+01:00`, in UTC if there is no zone; anything else stays unchanged. */
function isoDate(value: string): string {
  const parts = /^(?:D:)?(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?/u.exec(value);
  if (parts === null) return value;
  const [, year, month, day, hour = "00", minute = "00", second = "00", utc, zone, zoneMinutes = "00"] = parts;
  const offset = utc ?? (zone === undefined ? "Z" : `${zone}:${zoneMinutes}`);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`;
}
