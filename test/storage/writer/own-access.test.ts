import * as fc from "fast-check";
import { describe, onTestFinished, test } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { ItemOp, PreparedItem } from "#storage/records-types/item-writes.ts";
import { CONNECTOR, makeHarness, WORKSPACE } from "../../server/sync/harness.ts";

const GATE = `group:connector:${CONNECTOR}`;
const ACTORS: Principal[][] = [["user:a"], ["user:b"], ["user:a", "user:b"], ["user:c", "workspace"], []];
const ACCESSES: SourceAccess[] = [
  { known: true, all: [["user:a"]] },
  { known: true, all: [["user:b", "workspace"]] },
  { known: true, all: [["user:a", "user:b", "workspace"]] },
  {
    known: true,
    all: [
      ["user:a", "workspace"],
      ["user:b", "workspace"],
    ],
  },
  { known: true, all: [[]] },
  { known: false },
];
const IDS = ["a", "b", "c", "d", "e", "f"];

interface Node {
  parent: string | null;
  access: SourceAccess | null;
}

/** Says who may read what by walking up from each item, as the documentation says it. */
class Model {
  readonly nodes = new Map<string, Node>();

  remove(id: string): void {
    if (!this.nodes.delete(id)) return;
    for (const [child, { parent }] of this.nodes) if (parent === id) this.remove(child);
  }

  visibleTo(held: readonly Principal[]): string[] {
    return [...this.nodes.keys()].filter((id) => this.#isOpen(id, held)).sort();
  }

  #isOpen(id: string, held: readonly Principal[]): boolean {
    const met = new Set<string>();
    for (let at: string | null = id; at !== null;) {
      const node = this.nodes.get(at);
      if (!node || met.has(at) || met.size > 16) return false;
      met.add(at);
      const { access, parent } = node;
      if (access === null && parent === null) return false;
      if (access !== null && !meets(access, held)) return false;
      at = parent;
    }
    return true;
  }
}

function meets(access: SourceAccess, held: readonly Principal[]): boolean {
  return access.known && access.all.every((list) => list.some((principal) => held.includes(principal)));
}

async function makeWorld() {
  const kb = await makeHarness(() => []);
  const pool = makeSearchPool({ file: kb.database.file, size: 0, fold: async () => undefined });
  onTestFinished(() => pool.close());
  const { itemWrites, items, access } = kb.store.in(WORKSPACE);
  const ids = async () => new Map((await kb.items()).map((row) => [row.kbId, row.externalId]));
  return {
    apply: (ops: ItemOp[]) =>
      itemWrites.applyBatch({ connectorId: CONNECTOR, always: [GATE], highest: 1_000_000, now: 1, ops }),
    /** The op that holds an item, as a run would that has not named it. */
    async hold(id: string): Promise<ItemOp | undefined> {
      const found = await itemWrites.findStored(CONNECTOR, id);
      if (!found) return undefined;
      await kb.database.write.updateTable("items").set({ seenBy: "earlier" }).where("kbId", "=", found.kbId).execute();
      return { op: "sweep", kbIds: [found.kbId], hold: true };
    },
    async found(held: readonly Principal[]) {
      const viewer = { principals: [...held, GATE].sort(), epoch: 1 };
      const request = { workspaceId: WORKSPACE, viewer, query: "word", filters: {}, order: "relevance" } as const;
      const { hits, total } = await pool.search({ ...request, limit: 200, facets: ["kind"] });
      const names = await ids();
      return { total, found: hits.map(({ kbId }) => names.get(kbId)).sort() };
    },
    async readable(held: readonly Principal[]) {
      const names = await ids();
      const judged = (await items.accessOf([...names.keys()])).filter((item) => !item.isRemoved);
      const aclIds = judged.map((item) => item.aclId);
      const open = await access.visibleOf(aclIds, [...held, GATE]);
      return judged
        .filter((item) => open.has(item.aclId))
        .map((item) => names.get(item.kbId))
        .sort();
    },
  };
}

describe("who may read an item with parents", () => {
  const id = fc.constantFrom(...IDS);
  const access = fc.option(fc.constantFrom(...ACCESSES), { nil: null, freq: 4 });
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("put" as const),
        id,
        parent: fc.option(id, { nil: null, freq: 3 }),
        access,
        version: fc.constantFrom("1", "2"),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("acl" as const), id, access }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), id }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("hold" as const), id }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("seen" as const), id }) },
  );

  test(
    "is whom its own access and every parent's let in, whatever came in which order",
    { timeout: 600_000 },
    async ({ expect }) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 14 }),
          async (batches) => {
            const kb = await makeWorld();
            const model = new Model();
            for (const steps of batches) {
              const ops: ItemOp[] = [];
              for (const each of steps) {
                if (each.do === "put") {
                  ops.push(put(each.id, each));
                  model.nodes.set(each.id, { parent: each.parent, access: each.access });
                } else if (each.do === "acl") {
                  ops.push({ op: "access", externalId: each.id, access: each.access });
                  const node = model.nodes.get(each.id);
                  if (node) node.access = each.access;
                } else if (each.do === "delete") {
                  ops.push({ op: "delete", externalId: each.id, subtree: false });
                  model.remove(each.id);
                } else if (each.do === "hold") {
                  const op = await kb.hold(each.id);
                  if (op) ops.push(op);
                } else ops.push({ op: "seen", externalIds: [each.id] });
              }
              await kb.apply(ops);
              for (const held of ACTORS) {
                const expected = model.visibleTo(held);
                expect(await kb.readable(held)).toEqual(expected);
                expect(await kb.found(held)).toEqual({ total: expected.length, found: expected });
              }
            }
          },
        ),
        { numRuns: Number(process.env["KB_TEST_ACCESS_RUNS"] ?? 8) },
      );
    },
  );

  test("is what counts at the end of a batch, whatever was true in the middle of it", async ({ expect }) => {
    const kb = await makeWorld();
    const [a, ab] = [ACCESSES[0] ?? null, ACCESSES[2] ?? null];
    await kb.apply([put("top", { parent: null, access: a }), put("middle", { parent: "top", access: ab })]);
    // The item is stored while the top is wide, and what stands between the two never changes.
    await kb.apply([
      { op: "access", externalId: "top", access: ab },
      put("item", { parent: "middle", access: ab }),
      put("below", { parent: "item", access: null }),
      { op: "access", externalId: "top", access: a },
    ]);
    const all = ["below", "item", "middle", "top"];
    expect([await kb.readable(["user:a"]), await kb.readable(["user:b"])]).toEqual([all, []]);
    expect(await kb.found(["user:b"])).toEqual({ total: 0, found: [] });
    // And the other way round: nothing stays hidden that was hidden in the middle only.
    await kb.apply([
      { op: "access", externalId: "top", access: { known: false } },
      put("item", { parent: "middle", access: ab, version: "2" }),
      { op: "access", externalId: "top", access: a },
    ]);
    expect((await kb.found(["user:a"])).found).toEqual(all);
  });

  test("of a file that moved does not stay with what could not move along", async ({ expect }) => {
    const kb = await makeWorld();
    const a = ACCESSES[0] ?? null;
    const part = (of: string) => put(`${of}!//x`, { parent: of, access: null });
    await kb.apply([
      put("old", { parent: null, access: a }),
      part("old"),
      put("new", { parent: null, access: a }),
      part("new"),
    ]);
    await kb.apply([{ op: "delete", externalId: "new", subtree: false }]);
    const moved = put("new", { parent: null, access: { known: true, all: [["user:b"]] }, version: "2" });
    if (moved.op !== "upsert") throw new Error("It is an upsert.");
    await kb.apply([{ ...moved, item: { ...moved.item, formerExternalId: "old" } }]);
    expect(await kb.readable(["user:a"])).toEqual([]);
  });

  test("counts for a chain of 3,000 and for 2,000 children of one, without a limit of the stack", async ({
    expect,
  }) => {
    const kb = await makeWorld();
    const chain = Array.from({ length: 3_000 }, (_, at) =>
      put(`n${at}`, { parent: at === 0 ? null : `n${at - 1}`, access: at === 0 ? (ACCESSES[0] ?? null) : null }),
    );
    await kb.apply(chain);
    expect((await kb.readable(["user:a"])).length).toBe(17);
    await kb.apply([{ op: "access", externalId: "n0", access: { known: true, all: [["user:b"]] } }]);
    expect([(await kb.readable(["user:a"])).length, (await kb.readable(["user:b"])).length]).toEqual([0, 17]);
    const removed = await kb.apply([{ op: "delete", externalId: "n0", subtree: false }]);
    expect(removed).toMatchObject({ outcomes: ["removed"] });
    expect(await kb.readable(["user:b"])).toEqual([]);
    await kb.apply([put("top", { parent: null, access: ACCESSES[0] ?? null })]);
    await kb.apply(Array.from({ length: 2_000 }, (_, at) => put(`c${at}`, { parent: "top", access: null })));
    await kb.apply([{ op: "access", externalId: "top", access: { known: true, all: [["user:b"]] } }]);
    expect([(await kb.readable(["user:a"])).length, (await kb.readable(["user:b"])).length]).toEqual([0, 2_001]);
  });
});

let given = 0;

function put(externalId: string, { parent, access, version = "1" }: Node & { version?: string }): ItemOp {
  const text = `word ${externalId} ${version}`;
  const analyzed = analyzeDocument({ title: externalId, path: [], labels: [], text });
  const item: PreparedItem = {
    newKbId: `kbi_${String(given++).padStart(16, "0")}`,
    externalId,
    parentExternalId: parent,
    identityHint: null,
    providerId: "fake",
    source: "fake:Things",
    kind: "page",
    subkind: null,
    key: null,
    title: externalId,
    url: null,
    lineAnchor: null,
    path: [],
    mimeType: null,
    size: null,
    version,
    status: null,
    priority: null,
    labels: [],
    fields: {},
    author: null,
    assignees: [],
    createdAt: null,
    updatedAt: null,
    dueAt: null,
    entities: [],
    access,
    text: { state: "text", text, textHash: text, sections: [], analyzed },
    maskedSecrets: 0,
    indexHash: `${text} ${parent ?? ""}`,
  };
  return { op: "upsert", item };
}
