import { type Format, type FormatResult, noText } from "#extract/format.ts";
import { readImage } from "#extract/image/containers.ts";
import type { MediaFacts } from "#extract/image/facts.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** Pictures: the words in their metadata. The picture itself isn't read (there is no OCR). */
export const imageFormat: Format = {
  extract({ bytes, mimeType }): FormatResult {
    const facts = readImage(asBuffer(bytes), mimeType);
    return factsText(facts, "The image has no text metadata. kb does not use OCR.");
  },
};

/** Formats facts as text, one per line; returns no text when none of them contains words. */
export function factsText(
  facts: MediaFacts,
  without: string,
  more: Readonly<Record<string, string>> = {},
): FormatResult {
  const { width, height, camera, created, title, ...words } = facts;
  const named = { ...(title !== undefined && { title }), ...words, ...more };
  const lines = Object.entries(named).filter(([, value]) => value !== "");
  if (lines.length === 0) return noText("unsupported_type", without);
  const about = { ...(camera !== undefined && { camera }), ...(created !== undefined && { created }) };
  const text = [...lines, ...Object.entries(about)]
    .map(([name, value]) => `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${value}\n`)
    .join("");
  const { title: _, ...properties } = { title, ...named, ...about };
  return {
    state: "ok",
    text,
    sections: [],
    properties: {
      ...properties,
      ...(width !== undefined && height !== undefined && { dimensions: `${width}×${height}` }),
      textFrom: "metadata",
    },
    ...(title !== undefined && { title }),
  };
}
