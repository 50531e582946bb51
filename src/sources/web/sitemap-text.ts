import { createGunzip } from "node:zlib";
import { xmlEncodingOf } from "#core/encodings/declared.ts";
import { makeTextPieces, type TextPieces } from "#core/encodings/names.ts";

/** The number of bytes from which the compression and encoding of a sitemap are recognized. */
const HEAD_BYTES = 256;

/** Decompresses a sitemap. Compressed data is recognized by its first bytes, regardless of the file's name and type. */
export async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const { head, all } = await peek(body);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* all;
  const gunzip = createGunzip();
  const written = (async () => {
    for await (const piece of all) {
      if (gunzip.destroyed) return;
      if (!gunzip.write(piece)) await new Promise((resolve) => gunzip.once("drain", resolve).once("close", resolve));
    }
    gunzip.end();
  })().catch((error: unknown) => void gunzip.destroy(error instanceof Error ? error : new Error(String(error))));
  try {
    // A stream without an encoding yields Buffers.
    yield* gunzip as AsyncIterable<Uint8Array>;
  } finally {
    gunzip.destroy();
    await written;
  }
}

/**
 * Yields the text as it arrives. The encoding is taken from the byte order mark, the first characters, the declaration,
 * or the server. Source: https://www.w3.org/TR/xml/#sec-guessing
 */
export async function* decoded(
  body: AsyncIterable<Uint8Array>,
  charset: string | undefined,
): AsyncGenerator<string, void> {
  const { head, all } = await peek(body);
  const text = piecesOf(head, charset);
  for await (const piece of all) yield text.write(piece);
  yield text.end();
}

function piecesOf(head: Uint8Array, charset: string | undefined): TextPieces {
  const [a, b] = head;
  if ((a === 0xff && b === 0xfe) || (a !== undefined && a !== 0 && b === 0)) return makeTextPieces("utf-16le");
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== undefined && b !== 0)) return makeTextPieces("utf-16be");
  return makeTextPieces(a === 0xef && b === 0xbb ? "utf-8" : (xmlEncodingOf(head) ?? charset));
}

async function peek(body: AsyncIterable<Uint8Array>): Promise<{ head: Uint8Array; all: AsyncGenerator<Uint8Array> }> {
  const pieces = body[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < HEAD_BYTES) {
    const next = await pieces.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
  }
  const head = Buffer.concat(first);
  return { head, all: again(head, pieces) };
}

async function* again(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    if (first.length > 0) yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
