import { decodeText } from "#core/encodings/decode.ts";
import { type MediaFacts, note, readDate } from "./facts.ts";

/** Other metadata in a TIFF directory. */
export interface Embedded {
  xmp(bytes: Buffer): void;
  iptc(bytes: Buffer): void;
}

const MAX_ENTRIES = 1_000;

/** Reads the first directory of a TIFF structure, which is also the body of EXIF, and the EXIF directory below it. Never throws. */
export function readTiff(bytes: Buffer, facts: MediaFacts, embedded?: Embedded): void {
  const order = bytes.toString("latin1", 0, 2);
  if (bytes.length < 8 || (order !== "II" && order !== "MM")) return;
  const reader = new TiffReader(bytes, order === "II");
  const camera = { make: "", model: "", taken: "", changed: "" };
  const below = reader.directory(reader.u32(4), (tag, value) => {
    switch (tag) {
      case 0x010e:
        return note(facts, "description", reader.text(value));
      case 0x013b:
        return note(facts, "author", reader.text(value));
      case 0x8298:
        return note(facts, "copyright", reader.text(value).replaceAll("\0", " "));
      case 0x010f:
        return void (camera.make = reader.text(value));
      case 0x0110:
        return void (camera.model = reader.text(value));
      case 0x0132:
        return void (camera.changed = reader.text(value));
      case 0x9c9b:
        return note(facts, "title", wideText(value));
      case 0x9c9c:
        return note(facts, "comment", wideText(value));
      case 0x9c9d:
        return note(facts, "author", wideText(value));
      case 0x9c9e:
        return note(facts, "keywords", wideText(value).replaceAll(";", ", "));
      case 0x9c9f:
        return note(facts, "description", wideText(value));
      case 0x02bc:
        return embedded?.xmp(value);
      case 0x83bb:
        return embedded?.iptc(value);
      case 0x0100:
      case 0x0101:
        return embedded === undefined
          ? undefined
          : void (facts[tag === 0x0100 ? "width" : "height"] ??= reader.number(value));
      default:
    }
  });
  if (below > 0) {
    reader.directory(below, (tag, value) => {
      if (tag === 0x9003) camera.taken = reader.text(value);
      else if (tag === 0x9286) note(facts, "comment", commentText(value, order === "II"));
    });
  }
  const { make, model } = camera;
  note(
    facts,
    "camera",
    model.toLowerCase().startsWith(make.toLowerCase().split(" ")[0] ?? "") ? model : `${make} ${model}`,
  );
  note(facts, "created", readDate(camera.taken) ?? readDate(camera.changed));
}

class TiffReader {
  private readonly bytes: Buffer;
  private readonly isLittle: boolean;

  constructor(bytes: Buffer, isLittle: boolean) {
    this.bytes = bytes;
    this.isLittle = isLittle;
  }

  u16(at: number): number {
    if (at + 2 > this.bytes.length) return 0;
    return this.isLittle ? this.bytes.readUInt16LE(at) : this.bytes.readUInt16BE(at);
  }

  u32(at: number): number {
    if (at + 4 > this.bytes.length) return 0;
    return this.isLittle ? this.bytes.readUInt32LE(at) : this.bytes.readUInt32BE(at);
  }

  /** Passes each entry's bytes to `onEntry`; returns the offset of the EXIF directory, 0 if there is none. */
  directory(start: number, onEntry: (tag: number, value: Buffer) => void): number {
    let below = 0;
    const count = Math.min(MAX_ENTRIES, this.u16(start));
    for (let index = 0; index < count; index++) {
      const at = start + 2 + index * 12;
      const tag = this.u16(at);
      const size = (TYPE_SIZES[this.u16(at + 2)] ?? 0) * this.u32(at + 4);
      const from = size <= 4 ? at + 8 : this.u32(at + 8);
      if (tag === 0x8769) below = this.u32(at + 8);
      else if (size > 0 && from + size <= this.bytes.length) onEntry(tag, this.bytes.subarray(from, from + size));
    }
    return below;
  }

  text(value: Buffer): string {
    const end = value.indexOf(0);
    const words =
      end >= 0 && value.subarray(end).every((byte) => byte === 0 || byte === 0x20) ? value.subarray(0, end) : value;
    return decodeText(words, Math.max(1, words.length))?.text.trim() ?? "";
  }

  number(value: Buffer): number {
    if (value.length === 2) return this.isLittle ? value.readUInt16LE(0) : value.readUInt16BE(0);
    return value.length < 4 ? 0 : this.isLittle ? value.readUInt32LE(0) : value.readUInt32BE(0);
  }
}

/** Number of bytes of a value, indexed by its type. */
const TYPE_SIZES: readonly number[] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];

function wideText(value: Buffer): string {
  return value.toString("utf16le").replace(/\0+$/u, "");
}

/** A user comment begins with the name of its encoding. */
function commentText(value: Buffer, isLittle: boolean): string {
  const kind = value.toString("latin1", 0, 8);
  const rest = value.subarray(8);
  if (kind.startsWith("UNICODE")) {
    const even = Buffer.from(rest.subarray(0, rest.length & ~1));
    return (isLittle ? even : even.swap16()).toString("utf16le").replaceAll("\0", "");
  }
  return kind.startsWith("ASCII") ? rest.toString("latin1").replaceAll("\0", "") : "";
}
