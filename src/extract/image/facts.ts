import { oneLine } from "#extract/clean.ts";

/** Facts from the metadata of a picture or recording. The first value of each kind is kept. */
export interface MediaFacts {
  title?: string;
  description?: string;
  author?: string;
  keywords?: string;
  copyright?: string;
  place?: string;
  comment?: string;
  camera?: string;
  /** RFC 3339; without a zone if the camera doesn't record one. */
  created?: string;
  width?: number;
  height?: number;
}

type TextFact = Exclude<keyof MediaFacts, "width" | "height">;

/** Stores a text unless it is meaningless or already has a value. */
export function note(facts: MediaFacts, name: TextFact, text: string | undefined): void {
  const line = oneLine((text ?? "").slice(0, 20_000), name === "description" || name === "comment" ? 5_000 : 1_000);
  if (line !== "" && facts[name] === undefined && !NOISE.test(line)) facts[name] = line;
}

/** Texts that cameras and programs write into every file. */
const NOISE =
  /^(?:.{0,40} digital camera|.{0,30} zoom digital camera|sony dsc|[0-9a-f]{32,}|dig?c|dcim|kodak|samsung|default|untitled|unknown|exif_jpeg.*|creator: gd-jpeg.*|created with .*|file (?:written|source).*|lead technologies.*|optimized by.*|intel\(r\).*|\(c\)|none|null|x-?default|[\s\p{P}\d]*|ascii|lavf[\d.]*|xv [\d.]+)$/iu;

/** Converts `2024:01:31 12:00:00` of EXIF, `20240131` of IPTC and ISO dates to RFC 3339. */
export function readDate(text: string | undefined): string | undefined {
  const parts = /^\s*(\d{4})[:-]?(\d\d)[:-]?(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?(Z|[+-]\d\d:\d\d)?)?/u.exec(
    text ?? "",
  );
  if (parts === null || parts[1] === "0000") return undefined;
  const [, year, month, day, hour = "00", minute = "00", second = "00", zone = ""] = parts;
  const date = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  return Number.isNaN(Date.parse(date)) ? undefined : `${date}${zone}`;
}
