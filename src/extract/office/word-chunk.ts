import { cleanText } from "#extract/clean.ts";
import { htmlEncodingOf } from "#core/encodings/declared.ts";
import { decodeText } from "#core/encodings/decode.ts";
import { renderHtml } from "#extract/html/render.ts";
import { surveyHtml } from "#extract/html/survey.ts";
import { readMail } from "#extract/mail/message.ts";
import { looksLikeZip } from "#extract/zip.ts";
import type { Block, BlockWriter } from "./blocks.ts";
import { RtfReader } from "./rtf-reader.ts";
import { readRtfTokens } from "./rtf-tokens.ts";
import { asBuffer } from "#core/as-buffer.ts";

/**
 * Reads the blocks of a document that Word includes when it opens the file (`altChunk`): another Word document, RTF, a page with its pictures (MHT),
 * HTML, plain text. Its type is detected by its bytes. Source: ECMA-376, 17.17.2.1.
 *
 * @param readWord reads a Word document into the same writer
 */
export function readChunk(bytes: Uint8Array, writer: BlockWriter, readWord: (bytes: Uint8Array) => void): Block[] {
  const start = Buffer.from(bytes.subarray(0, 4_096))
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/u, "")
    .trimStart();
  if (looksLikeZip(bytes) || start.includes("schemas.microsoft.com/office/2006/xmlPackage"))
    return captured(writer, () => readWord(bytes));
  if (start.startsWith("{\\rtf")) {
    return captured(writer, () => {
      const reader = new RtfReader(writer);
      readRtfTokens(bytes, reader);
      reader.end();
    });
  }
  if (/^[\w-]{1,60}:[^\n]*\n/u.test(start) && /^content-type:/imu.test(start)) {
    const { texts } = readMail(asBuffer(bytes));
    return texts.flatMap(({ isHtml, text }) => (isHtml ? blocksOfHtml(text) : paragraphs(text)));
  }
  const text = decodeText(bytes, MAX_CHUNK_LENGTH, htmlEncodingOf(bytes))?.text ?? "";
  return start.startsWith("<") ? blocksOfHtml(text) : paragraphs(text);
}

const MAX_CHUNK_LENGTH = 1_000_000;

/** Returns no blocks for a broken document, so that the document around it can still be read. */
function captured(writer: BlockWriter, read: () => void): Block[] {
  writer.beginCapture();
  try {
    read();
  } catch {
    return writer.endCapture();
  }
  return writer.endCapture();
}

function blocksOfHtml(text: string): Block[] {
  const html = cleanText(text);
  const { isDataTable } = surveyHtml(html);
  return paragraphs(renderHtml(html, { scope: "everything", maxTextLength: MAX_CHUNK_LENGTH, isDataTable }).toString());
}

function paragraphs(text: string): Block[] {
  return cleanText(text)
    .split(/\n{2,}/u)
    .map((paragraph) => ({ kind: "paragraph", text: paragraph }));
}
