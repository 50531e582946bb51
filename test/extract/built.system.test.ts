import iconv from "iconv-lite";
import { afterAll, beforeAll, describe, test } from "vitest";
import { findSpawnEntry } from "#core/spawn.ts";
import type { Extracted, Extractor, NotExtracted } from "#extract/extractor.ts";
import { makeExtractor } from "#extract/pool.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { bytesOf, extractFile, requestOf } from "./documents.ts";
import { makeAsianPage } from "./pdf-files.ts";
import { makeSamples } from "./mutations.ts";
import { inMemory } from "../spool.ts";

const API = `openapi: 3.1.0
info: { title: Depot, version: "1" }
paths:
  /parcels:
    post: { operationId: sendParcel, summary: Sends a parcel, responses: { "201": { description: sent } } }
`;

/** Documents that need what is loaded for them alone. */
const MORE = [
  { name: "a.md", bytes: bytesOf("---\ntitle: Harbour\ntags: [a, b]\nowner: Ana\n---\n# Tides\n\nWords.\n") },
  { name: "a.mdx", bytes: bytesOf("---\ntitle: Harbour\n---\nimport X from './x'\n\n# Tides\n\n<X/>\n") },
  { name: "a.qmd", bytes: bytesOf("---\ntitle: Q\nformat: html\n---\n## Part\n\nText\n") },
  { name: "api.yaml", bytes: bytesOf(API) },
  { name: "api.yml", bytes: bytesOf(API.replace("openapi: 3.1.0", 'swagger: "2.0"')) },
  { name: "asia.pdf", bytes: makeAsianPage("90ms-RKSJ-H", "Japan1", iconv.encode("会議は火曜日", "shift_jis")) },
];

/** What came through a pipe is the same bytes in another kind of array. */
function plain(read: Extracted | NotExtracted) {
  if (read.state !== "ok" || read.children === undefined) return read;
  return {
    ...read,
    children: read.children.map((child) => ({ ...child, bytes: Uint8Array.from(inMemory(child.bytes)) })),
  };
}

describe("the built extractor", () => {
  let built: Extractor;

  beforeAll(() => {
    const nothing = () => undefined;
    built = makeExtractor({
      childPath: findSpawnEntry("extractor"),
      now: () => performance.now(),
      analyze: analyzeDocument,
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    });
  });

  afterAll(() => built.close());

  test("reads every kind of file as the sources do", async ({ expect }) => {
    for (const { name, bytes } of [...makeSamples(), ...MORE]) {
      const request = { readsArchives: true };
      const [here, there] = [
        await extractFile(name, bytes, {}, request),
        await built.extract(requestOf(name, bytes, request)),
      ];
      expect({ name, ...plain(there) }).toEqual({ name, ...plain(here) });
    }
  });

  test("reads fonts of Asia by the tables beside it", async ({ expect }) => {
    const asia = MORE.find(({ name }) => name === "asia.pdf");
    const read = await built.extract(requestOf("asia.pdf", asia?.bytes ?? ""));
    expect(read).toMatchObject({ state: "ok", text: "[Page 1]\n会議は火曜日\n" });
  });

  test("reads front matter, and the operations of an API in YAML", async ({ expect }) => {
    const [page, , , api] = await Promise.all(MORE.map(({ name, bytes }) => built.extract(requestOf(name, bytes))));
    expect(page).toMatchObject({ state: "ok", title: "Harbour", properties: { tags: ["a", "b"], owner: "Ana" } });
    expect(api).toMatchObject({ state: "ok", title: "Depot" });
    expect(api?.state === "ok" && api.text).toContain("Sends a parcel");
    expect(api?.state === "ok" && api.sections.map(({ name }) => name)).toContain("POST /parcels");
  });
});
