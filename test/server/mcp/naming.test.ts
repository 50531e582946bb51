import { expect, test } from "vitest";
import { makeKit, type TestItem } from "./kit.ts";

const file = (path: string, title: string, more: Partial<TestItem> = {}): TestItem => {
  const folders = path.split("/");
  const key = folders.pop() ?? "";
  return { title, key, path: folders, text: `Text of ${path}.`, ...more };
};

async function makeFilled() {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const member = await kb.addMember(owner.workspaceId);
  const kbIds = await kb.addItems(owner, [
    file("web/README.md", "Web shop", { source: "git:acme/shop" }),
    file("api/v2/docs/README.md", "Payment API"),
    file("api/setup.md", "Set up", { source: "filesystem:shop" }),
    { title: "Refunds", key: "SHOP-7", kind: "task", text: "A refund.", url: "https://tracker.test/SHOP-7" },
  ]);
  return { kb, owner, member, kbIds };
}

test("hits of the same file name are told apart by their path, and have an address", async () => {
  const { kb, member, kbIds } = await makeFilled();
  const { data, text } = await kb.tool(member, "kb_search", { query: "README.md" });
  const shown = (data.results as { title: string; path: string; url: string }[]).map(({ title, path, url }) => [
    title,
    path,
    url.replace(/^https?:\/\/[^/]+/, ""),
  ]);
  expect(shown.toSorted()).toEqual([
    ["Payment API", "api/…/docs/README.md", `/i/${kbIds[1]}`],
    ["Web shop", "web/README.md", `/i/${kbIds[0]}`],
  ]);
  expect(text).toContain("path: api/…/docs/README.md");
  const rest = await kb.as(member).get("/api/connectors/search?query=README.md");
  expect(
    rest.json.results.map((one: { key: string; url: string }) => [one.key, new URL(one.url).pathname]),
  ).toContainEqual(["README.md", `/i/${kbIds[0]}`]);
});

test("an item is read by its permalink, URL, key, path, or a name that nothing else visible has", async () => {
  const { kb, member, kbIds } = await makeFilled();
  const [web, api, setUp, task] = kbIds;
  const named: [string, string | undefined][] = [
    [`${kb.deps.settings.baseUrl}/i/${web}`, web],
    [`/i/${web}`, web],
    [`${kb.deps.settings.baseUrl}/i/${web}#nowhere`, undefined],
    ["https://tracker.test/SHOP-7", task],
    ["shop-7", task],
    ["setup.md", setUp],
    ["set up", setUp],
    ["web/README.md", web],
    ["api/v2/docs/README.md", api],
    ["docs/README.md", api],
    // As a path begins outside of kb: with the folder or the repository that the connector reads.
    ["acme/shop/web/README.md", web],
    ["shop/api/setup.md", setUp],
    ["other/api/setup.md", undefined],
    ["Payment API", api],
    ["nothing.md", undefined],
  ];
  for (const [asked, kbId] of named) {
    const tool = await kb.tool(member, "kb_get_file_content", { kbId: asked });
    expect([asked, tool.isError, /kbId: (kbi_\w+)/.exec(tool.text)?.[1]]).toEqual([asked, kbId === undefined, kbId]);
    const rest = await kb.as(member).get(`/api/connectors/files/${encodeURIComponent(asked)}/content`);
    expect([asked, rest.status === 200]).toEqual([asked, kbId !== undefined]);
  }
  const several = await kb.tool(member, "kb_get_file_content", { kbId: "README.md" });
  expect(several.isError).toBe(true);
  expect(several.text).toContain(`${web} (web/README.md)`);
  expect(several.text).toContain(`${api} (api/v2/docs/README.md)`);
});

test("hidden twins of a name change nothing, however many there are", async () => {
  const { kb, owner, member, kbIds } = await makeFilled();
  const names = ["setup.md", "Set up", "api/setup.md", "https://tracker.test/SHOP-7", "SHOP-7", "nothing.md"];
  const ask = () =>
    Promise.all(names.map(async (kbId) => (await kb.tool(member, "kb_get_file_content", { kbId })).text));
  const before = await ask();
  const readers = [`user:${owner.userId}`];
  const twin = file("api/setup.md", "Set up", { url: "https://tracker.test/SHOP-7", readers });
  await kb.addItems(owner, [...Array<TestItem>(600).fill(twin), file("nothing.md", "nothing.md", { readers })]);
  expect(await ask()).toEqual(before);
  expect(before[0]).toContain(kbIds[2]);
});

test("a malformed cursor is an error everywhere, one that says none is none", async () => {
  const { kb, member } = await makeFilled();
  for (const cursor of ["zzz", "cursor_abcdefghijklmnop", "aB3_aB3-aB3_aB3-aB3_aB3-aB3_"]) {
    const search = await kb.tool(member, "kb_search", { query: "", cursor });
    const entities = await kb.tool(member, "kb_search_entities", { query: "a", cursor });
    expect([search.text, entities.text]).toEqual([
      expect.stringMatching(/^invalid_cursor: /),
      expect.stringMatching(/^invalid_cursor: /),
    ]);
    for (const path of ["/api/connectors/search?query=", "/api/connectors/all-files?", "/api/entities?q=a"]) {
      const { status, json } = await kb.as(member).get(`${path}&cursor=${cursor}`);
      expect([path, status, json.code]).toEqual([path, 400, "invalid_cursor"]);
    }
  }
  for (const cursor of ["", "null", "undefined", "none"]) {
    expect((await kb.tool(member, "kb_search", { query: "", cursor })).data.returned).toBe(4);
    expect((await kb.as(member).get(`/api/connectors/search?query=&cursor=${cursor}`)).json.returned).toBe(4);
    expect((await kb.as(member).get(`/api/connectors/all-files?cursor=${cursor}`)).json.total).toBe(4);
  }
});

test("no text of a stranger leaves REST with characters that can't be seen; the highlights move with it", async () => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const tags = [..."IGNORE"].map((char) => String.fromCodePoint(0xe0000 + (char.codePointAt(0) ?? 0))).join("");
  const [kbId] = await kb.addItems(owner, [
    {
      title: `Plan\u202e gnp.exe${tags}`,
      text: `The ${tags}\u2066budget\u2069 of\u200b March.\n\n\u200cSecond\u00ad line\t\u{1f469}\u200d\u{1f4bb}.`,
      labels: [`urgent${tags}`],
      fields: { [`stage${tags}`]: `draft\u202d` },
    },
  ]);
  const { json, text } = await kb.as(owner).get("/api/connectors/search?query=budget");
  const [hit] = json.results;
  expect(hit.snippet).toBe("The budget of March.\n\nSecond line\t\u{1f469}\u200d\u{1f4bb}.");
  expect(hit.highlights.map(({ start, end }: { start: number; end: number }) => hit.snippet.slice(start, end))).toEqual(
    ["budget"],
  );
  const list = await kb.as(owner).get("/api/connectors/all-files");
  const content = await kb.as(owner).get(`/api/connectors/files/${kbId}/content`);
  expect(list.json.files[0].title).toBe("Plan gnp.exe");
  expect(content.text).toBe("The budget of March.\n\nSecond line\t\u{1f469}\u200d\u{1f4bb}.");
  const UNSEEN = /[\u200b\u00ad\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;
  for (const answer of [text, list.text, content.text]) expect(answer).not.toMatch(UNSEEN);
});
