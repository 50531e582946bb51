import { decodeNamed } from "#core/encoded-words.ts";
import { decodeText } from "#core/encodings/decode.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** Decodes bytes of an email in the encoding that the email declares; a missing or unknown encoding is guessed. Never throws. */
export function decodeCharset(bytes: Uint8Array, declared: string | undefined): string {
  const named = decodeNamed(bytes, declared);
  if (named !== undefined) return named;
  const buffer = asBuffer(bytes);
  return decodeText(buffer, Math.max(1, buffer.length))?.text ?? buffer.toString("latin1");
}
