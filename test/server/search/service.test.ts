import { describe, test } from "vitest";
import type { Policy } from "#storage/access/policy.ts";
import type { ExcerptRequest, SearchIndex, SearchResponse } from "#storage/search-index.ts";
import { makeSearchService } from "#server/search/service.ts";
import type { ItemRecord } from "#storage/records/items.ts";
import type { WorkspaceStore } from "#storage/store.ts";

const ACTOR = { workspaceId: "wsp_1", userId: "usr_1", timeZone: "UTC" } as Parameters<
  ReturnType<typeof makeSearchService>["search"]
>[0];
const VIEWER = { principals: ["user:usr_1"], epoch: 1, validUntil: Infinity, key: "k" } as const;
const RESPONSE: SearchResponse = {
  hits: [{ kbId: "kbi_a", position: { group: 1, value: 1, kbId: "kbi_a" }, score: 1 }],
  total: 1,
  totalAll: 1,
  isTotalExact: true,
  match: "all",
  order: "relevance",
  facets: {},
  unknownWords: [],
  hasMore: false,
  tookMs: 0,
};

/** A search over one item; each reading of the records finds the next of its versions, and only the last has a text. */
function makeWorld(versions: readonly string[]) {
  const asked: string[] = [];
  let readings = 0;
  const record = () => {
    const version = versions[Math.min(readings++, versions.length - 1)] ?? "";
    // What the service and its answer look at.
    return {
      kbId: "kbi_a",
      title: `Title ${version}`,
      url: null,
      textHash: version,
      sections: [],
      path: [],
    } as unknown as ItemRecord;
  };
  const policy: Pick<Policy, "viewerOf" | "readVisible"> = {
    viewerOf: async () => VIEWER,
    readVisible: async (_actor, kbIds, read) => {
      const store = { items: { records: async () => [record()] } } as unknown as WorkspaceStore;
      return read({ store, viewer: VIEWER, visible: new Set(kbIds) });
    },
  };
  const index: Pick<SearchIndex, "search" | "excerpts"> = {
    search: async () => RESPONSE,
    async excerpts({ items }: ExcerptRequest) {
      const hash = items[0]?.textHash ?? "";
      asked.push(hash);
      return [hash === "last" ? [{ at: 0, text: "of the last", highlights: [] }] : undefined];
    },
  };
  const service = makeSearchService({
    index: index as SearchIndex,
    policy: policy as Policy,
    finder: {} as never,
    cursors: {} as never,
    clock: { now: () => 0 } as never,
    lookUp: async () => ({ kbIds: [] }),
  });
  return { asked, search: () => service.search(ACTOR, { query: "webhook", limit: 10 }) };
}

describe("an answer", () => {
  test("shows title and passage of one version: an item that changed meanwhile is judged again", async ({ expect }) => {
    const { asked, search } = makeWorld(["first", "last"]);
    const { entries } = await search();
    expect(asked).toEqual(["first", "last"]);
    expect(entries).toMatchObject([{ item: { title: "Title last" }, passages: [{ text: "of the last" }] }]);
  });

  test("stands without a passage when the item changes each time", async ({ expect }) => {
    const { asked, search } = makeWorld(["first", "second", "third"]);
    const { entries } = await search();
    expect(asked).toEqual(["first", "second"]);
    expect(entries).toMatchObject([{ item: { title: "Title second" }, passages: [] }]);
  });
});
