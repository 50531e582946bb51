import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import { guessEncoding } from "#core/encodings/guess.ts";

/**
 * Makes a decoder for the names of an archive's members. Many programs write UTF-8 without declaring it. Other names are in the encoding of the
 * machine that packed the archive, which is guessed from all names together.
 */
export function nameDecoder(names: readonly Buffer[]): (name: Buffer) => string {
  const others = names.filter((name) => !isUtf8(name));
  if (others.length === 0) return (name) => name.toString("utf8");
  const together = Buffer.concat(others.flatMap((name) => [name, LINE_FEED]));
  const encoding = guessEncoding(together, { prefersDos: true });
  return (name) => (isUtf8(name) ? name.toString("utf8") : iconv.decode(name, encoding));
}

const LINE_FEED = Buffer.from("\n");
