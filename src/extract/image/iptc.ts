import { decodeText } from "#core/encodings/decode.ts";
import { type MediaFacts, note, readDate } from "./facts.ts";

/** Reads the resources of Photoshop, one of which contains IPTC records. */
export function readPhotoshop(bytes: Buffer, facts: MediaFacts): void {
  for (let at = 0; at + 12 <= bytes.length && bytes.toString("latin1", at, at + 4) === "8BIM";) {
    const id = bytes.readUInt16BE(at + 4);
    const nameLength = (bytes[at + 6] ?? 0) + 1;
    const start = at + 6 + nameLength + (nameLength % 2);
    if (start + 4 > bytes.length) return;
    const size = bytes.readUInt32BE(start);
    if (id === 0x0404) readIptc(bytes.subarray(start + 4, start + 4 + size), facts);
    at = start + 4 + size + (size % 2);
  }
}

/** Reads IPTC records. Source: IPTC-IIM 4.2. */
export function readIptc(bytes: Buffer, facts: MediaFacts): void {
  const values = new Map<number, string[]>();
  for (let at = 0; at + 5 <= bytes.length && bytes[at] === 0x1c;) {
    const size = bytes.readUInt16BE(at + 3);
    // Longer values store their size in more bytes; no text is that long.
    if (size > 0x7fff) break;
    const value = bytes.subarray(at + 5, at + 5 + size);
    const id = bytes[at + 2] ?? 0;
    if (bytes[at + 1] === 2) {
      const text = decodeText(value, Math.max(1, value.length))?.text ?? "";
      values.set(id, [...(values.get(id) ?? []).slice(0, 100), text]);
    }
    at += 5 + size;
  }
  const first = (id: number) => values.get(id)?.[0];
  note(facts, "title", first(5) ?? first(105));
  note(facts, "description", first(120));
  note(facts, "author", values.get(80)?.join(", "));
  note(facts, "keywords", values.get(25)?.join(", "));
  note(facts, "copyright", first(116));
  note(
    facts,
    "place",
    [first(92), first(90), first(95), first(101)].filter((part) => part !== undefined && part !== "").join(", "),
  );
  note(facts, "created", readDate(first(55)));
}
