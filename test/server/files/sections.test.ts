import { scripted } from "../../scripted.ts";
import { inMemory } from "../../spool.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import { analyzeDocument } from "#text/analyzer.ts";
import { extractInProcess } from "#extract/extract.ts";
import { DEFAULT_EXTRACT_LIMITS } from "#extract/limits.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { verifies } from "../../requirements.ts";

const FILLER = "Words that fill the page and answer nothing, line after line after line.\n".repeat(12);
const FILES: { name: string; url: string; lineAnchor?: string; text: string }[] = [
  {
    name: "guide.html",
    url: "https://docs.test/guide",
    text: `<main><h1 id="guide">Guide</h1><p>${FILLER}</p><section id="setup"><h2>Setup</h2><p>${FILLER}</p>
      <h3 id="linux">Linux</h3><p>Install the quokka package.</p></section><h2 id="use">Use</h2><p>${FILLER}</p></main>`,
  },
  {
    name: "main.ts",
    url: "https://forge.test/acme/web/blob/main/src/main.ts",
    lineAnchor: "#L{line}",
    text: `${"const filler = 1;\n".repeat(2_000)}export function numbat() {}\n${"// more\n".repeat(10)}`,
  },
  {
    name: "notes.md",
    url: "https://forge.test/acme/web/blob/main/notes.md",
    text: `---\ntitle: Notes\nstatus: draft\n---\n# Plan\n\n${FILLER}\n## Wombat day\n\nThe wombat comes on Friday.\n`,
  },
];

async function makeLibrary() {
  const items = FILES.map(({ name, url, lineAnchor }): SourceItem => ({
    externalId: name,
    kind: "file",
    title: name,
    url,
    ...(lineAnchor !== undefined && { lineAnchor }),
    version: "1",
    content: { type: "fetch" },
    access: { known: true, all: [["workspace"]] },
  }));
  const source: Source = {
    spec: {
      providerId: "library",
      name: "Library",
      kinds: ["file"],
      auth: [{ type: "none" }],
      config: z.strictObject({}),
      acl: "connector",
    },
    check: async () => ({ ok: true }),
    sessions: scripted(async function* () {
      for (const item of items) yield { t: "upsert", item };
      yield { t: "end", listing: "complete", permissions: "current" };
    }),
    fetchContent: async (_ctx, { externalId }) => {
      const text = FILES.find(({ name }) => name === externalId)?.text ?? "";
      return { bytes: new TextEncoder().encode(text), fileName: externalId };
    },
  };
  const sources = { find: async () => source, list: async () => [source] };
  const tools = { analyze: analyzeDocument, cpuMs: () => 0, now: () => performance.now() };
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, {
      sources,
      extractor: {
        extract: (request) =>
          extractInProcess({ ...request, bytes: inMemory(request.bytes) }, DEFAULT_EXTRACT_LIMITS, tools),
      },
    }),
  );
  const owner = await kb.addOwner();
  const config = { providerId: "library", name: "Library", config: {}, access: { visibility: "workspace" } };
  expect((await kb.as(owner).post("/api/connectors", config)).status).toBe(201);
  await kb.deps.worker.runUntilIdle();
  const actor = await kb.actor(owner);
  const search = async (query: string) =>
    (await kb.as(owner).get(`/api/connectors/search?query=${query}`)).json.results[0];
  const content = (kbId: string, query: string) => kb.as(owner).get(`/api/connectors/files/${kbId}/content?${query}`);
  const read = async (kbId: string, more: Record<string, unknown> = {}) => {
    const context = { signal: new AbortController().signal, report: () => undefined, isFromKb: false };
    return (await kb.deps.tools.call(actor, "kb_get_file_content", { kbId, ...more }, context))?.text ?? "";
  };
  return { search, content, read };
}

verifies(
  "sections:named",
  "a hit names its section after those around it, and the address of that very place",
  async () => {
    const { search } = await makeLibrary();
    expect(await search("quokka")).toMatchObject({
      section: "Guide › Setup › Linux",
      sectionUrl: "https://docs.test/guide#linux",
      url: "https://docs.test/guide",
    });
    expect(await search("numbat")).toMatchObject({
      section: "line 2001",
      sectionUrl: "https://forge.test/acme/web/blob/main/src/main.ts#L2001",
    });
    // A heading of Markdown has no address of its own that this program knows.
    expect(await search("wombat")).toMatchObject({ section: "Plan › Wombat day", sectionUrl: null });
  },
);

verifies(
  "sections:read-alone",
  "a section is read alone: by name, path, anchor, line or the address of a hit",
  async () => {
    const { search, content, read } = await makeLibrary();
    const { kbId } = await search("quokka");
    for (const section of ["Linux", "linux", "Guide › Setup › Linux"]) {
      const answer = await content(kbId, `section=${encodeURIComponent(section)}`);
      expect(answer.text).toBe("### Linux\n\nInstall the quokka package.\n\n");
      expect(answer.headers.get("x-next-offset")).toBeNull();
    }
    const setup = await content(kbId, "section=setup&limit=20");
    expect(setup.text).toBe("## Setup\n\nWords that");
    const after = setup.headers.get("x-next-offset") ?? "";
    expect((await content(kbId, `offset=${after}&limit=9`)).text).toBe(" fill the");

    for (const asked of [`${kbId}#Linux`, "https://docs.test/guide#linux"]) {
      const text = await read(asked);
      expect(text).toContain("> ### Linux\n> \n> Install the quokka package.");
      expect(text).toMatch(/End of section\. Characters [\d,]+-[\d,]+ of [\d,]+; what follows it is at offset=\d+\.$/);
      expect(text).not.toContain("Words that fill");
    }
    expect(await read("https://forge.test/acme/web/blob/main/src/main.ts#L2001-L2003")).toContain(
      "> export function numbat() {}\n> // more",
    );
  },
);

test("lines are the file's, behind front matter too", async () => {
  const { search, content } = await makeLibrary();
  const { kbId } = await search("wombat");
  expect((await content(kbId, "section=L5&limit=6")).text).toBe("# Plan");
  // As a hit names it.
  expect((await content(kbId, "section=line%205&limit=6")).text).toBe("# Plan");
  expect((await content(kbId, "section=L1")).status).toBe(404);
  expect((await content(kbId, "section=L99999")).status).toBe(404);
});

verifies(
  "sections:unknown",
  "an unknown section is an error that names those there are; in an address it is no error",
  async () => {
    const { search, content, read } = await makeLibrary();
    const { kbId } = await search("quokka");
    const answer = await content(kbId, "section=Windows");
    expect(answer).toMatchObject({ status: 404, json: { code: "no_such_section" } });
    expect(answer.json.detail).toBe(
      'This item has no section "Windows". Its sections: "Guide", "Setup", "Linux", "Use".',
    );
    expect(await read("https://docs.test/guide#comments")).toContain("> # Guide");
    await expect(read(`${kbId}#Windows`)).rejects.toThrow('has no section "Windows"');
  },
);
