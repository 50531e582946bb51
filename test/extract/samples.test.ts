import { test } from "vitest";
import { detectType } from "#extract/detect.ts";
import { findFormat, FORMATS, type Reader } from "#extract/registry.ts";
import { makeSamples } from "./mutations.ts";

/** Each reader by the media types that it reads. */
function typesOf(reader: Reader): string[] {
  return Object.keys(FORMATS).filter((mimeType) => FORMATS[mimeType] === reader);
}

test("the samples that the fuzzer mutates and the package reads have a file for every reader", async ({ expect }) => {
  const sampled = new Set<Reader | undefined>();
  for (const { name, bytes } of makeSamples()) {
    const detected = await detectType(bytes, name, undefined);
    if (detected.type !== "empty") sampled.add(findFormat(detected.mimeType, detected.type === "text"));
  }
  const missing = [...new Set(Object.values(FORMATS))].filter((reader) => !sampled.has(reader));
  expect(missing.map(typesOf)).toEqual([]);
});
