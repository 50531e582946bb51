import { facts } from "../facts.ts";
import * as fc from "fast-check";
import { onTestFinished } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import type { InlineWriterOptions } from "#storage/writer/client.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { ItemOp, PreparedItem } from "#storage/item-batch.ts";
import { CONNECTOR, makeHarness, WORKSPACE } from "../../server/sync/harness.ts";

const GATE = `group:connector:${CONNECTOR}`;
export const ACTORS: Principal[][] = [["user:a"], ["user:b"], ["user:a", "user:b"], ["user:c", "workspace"], []];
export const ACCESSES: SourceAccess[] = [
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

export interface Node {
  parent: string | null;
  access: SourceAccess | null;
}

/** Says who may read what by walking up from each item, as the documentation says it. */
export class Model {
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

/** A store with ways to change items and to ask who sees them. */
export async function makeWorld(inline: InlineWriterOptions = {}) {
  const kb = await makeHarness(() => [], {}, { inline });
  const pool = makeSearchPool({ file: kb.database.file, size: 0 });
  onTestFinished(() => pool.close());
  const { itemWrites, items, access } = kb.store.in(WORKSPACE);
  const ids = async () => new Map((await kb.items()).map((row) => [row.kbId, row.externalId]));
  return {
    ...kb,
    /** One slice of what is withheld. @returns false when nothing is */
    settle: (items: number) => kb.database.writer.call<boolean>("settleWithheld", { items }),
    async settleAll() {
      while (await kb.database.writer.call<boolean>("settleWithheld", {}));
    },
    async withheld() {
      const query = kb.database.read
        .selectFrom("withheld_items")
        .innerJoin("items", "items.kbId", "withheld_items.kbId");
      return (await query.select("externalId").orderBy("externalId").execute()).map((row) => row.externalId);
    },
    apply: (ops: ItemOp[]) =>
      itemWrites.applyBatch({ connectorId: CONNECTOR, always: [GATE], highest: 1_000_000, now: 1, ops }),
    /** The op that holds an item, as a run would that has not named it. */
    async hold(id: string): Promise<ItemOp | undefined> {
      const found = await itemWrites.findStored(CONNECTOR, id);
      if (!found) return undefined;
      await kb.database.write.updateTable("items").set({ seenBy: "earlier" }).where("kbId", "=", found.kbId).execute();
      return { type: "sweep", kbIds: [found.kbId], hold: true };
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

const id = fc.constantFrom(...IDS);
const access = fc.option(fc.constantFrom(...ACCESSES), { nil: null, freq: 4 });
/** One change of one of a few items. */
export const anyStep = fc.oneof(
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

/** Makes the ops of some steps, and the model follow. */
export async function toOps(
  kb: Pick<World, "hold">,
  model: Model,
  steps: readonly (typeof anyStep extends fc.Arbitrary<infer Step> ? Step : never)[],
): Promise<ItemOp[]> {
  const ops: ItemOp[] = [];
  for (const each of steps) {
    if (each.do === "put") {
      ops.push(put(each.id, each));
      model.nodes.set(each.id, { parent: each.parent, access: each.access });
    } else if (each.do === "acl") {
      ops.push({ type: "access", externalId: each.id, access: each.access });
      const node = model.nodes.get(each.id);
      if (node) node.access = each.access;
    } else if (each.do === "delete") {
      ops.push({ type: "delete", externalId: each.id, subtree: false });
      model.remove(each.id);
    } else if (each.do === "hold") {
      const op = await kb.hold(each.id);
      if (op) ops.push(op);
    } else ops.push({ type: "seen", externalIds: [each.id] });
  }
  return ops;
}

export type World = Awaited<ReturnType<typeof makeWorld>>;

let given = 0;

export function put(externalId: string, { parent, access, version = "1" }: Node & { version?: string }): ItemOp {
  const text = `word ${externalId} ${version}`;
  const analyzed = analyzeDocument({ title: externalId, path: [], labels: [], text });
  const item: PreparedItem = {
    newKbId: `kbi_${String(given++).padStart(16, "0")}`,
    externalId,
    parentExternalId: parent,
    identityHint: null,
    providerId: "fake",
    source: "fake:Things",
    ...facts({ kind: "page", title: externalId }),
    url: null,
    lineAnchor: null,
    version,
    entities: [],
    access,
    text: { state: "text", text, textHash: text, sections: [], analyzed },
    maskedSecrets: 0,
    indexHash: `${text} ${parent ?? ""}`,
  };
  return { type: "upsert", item };
}
