import * as fc from "fast-check";
import { describe, test } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import { makeSearchService } from "#server/search/service.ts";
import type { SourceAccess } from "#core/principals.ts";
import { idFor, NOW } from "../../leaks/model.ts";
import { makeWorld, upsertOf } from "../../storage/access/fixtures.ts";

const CONNECTOR = idFor("connector", "search");
const GROUPS = ["group:grp_a", "group:grp_b"];
const ITEMS = 4;
const kbIdOf = (i: number) => idFor("item", `search ${i}`);

/** Something that happens to rights or items: a group's members, or an item's access and text together. */
type Change = { group: number; isIn: boolean } | { item: number; access: number; text: string } | { removed: number };

/** Nobody, the workspace, a group, both groups. */
const ACCESSES: SourceAccess[] = [
  { known: false },
  { known: true, all: [["workspace"]] },
  ...GROUPS.map((group) => ({ known: true as const, all: [[group]] })),
  { known: true, all: GROUPS.map((group) => [group]) },
];

/** A search over real tables, and what it should show by a model that is changed with them. */
async function makeSearch(decorate: (index: SearchIndex) => SearchIndex = (index) => index) {
  const world = await makeWorld();
  const workspaceId = await world.workspace();
  const ana = await world.user(workspaceId);
  await world.connector(workspaceId, { connectorId: CONNECTOR, providerId: "push" });
  const { access, itemWrites } = world.store.in(workspaceId);
  const model = { groups: new Set<string>(), items: new Map<string, { access: SourceAccess; text: string }>() };
  const apply = async (change: Change) => {
    if ("group" in change) {
      const group = GROUPS[change.group] ?? "";
      if (change.isIn) model.groups.add(group);
      else model.groups.delete(group);
      return access.setMembers(group, change.isIn ? [`user:${ana.userId}`] : [], "kb");
    }
    const kbId = kbIdOf("removed" in change ? change.removed : change.item);
    const base = { connectorId: CONNECTOR, always: [`group:connector:${CONNECTOR}`], highest: 0, now: NOW };
    if ("removed" in change) {
      model.items.delete(kbId);
      await itemWrites.applyBatch({ ...base, ops: [{ type: "remove", kbIds: [kbId] }] });
      return;
    }
    const item = { access: ACCESSES[change.access] ?? { known: false }, text: `kettle ${change.text}` };
    model.items.set(kbId, item);
    // A removed item comes back as another one.
    const stored = await itemWrites.findStored(CONNECTOR, kbId);
    const title = `Title ${change.text}`;
    await itemWrites.applyBatch({ ...base, ops: [upsertOf(stored?.kbId ?? kbId, { title, ...item })] });
  };
  const isOpen = ({ access: rule }: { access: SourceAccess }) =>
    rule.known && rule.all.every((list) => list.some((one) => one === "workspace" || model.groups.has(one)));
  const pool = makeSearchPool({ file: world.database.file, size: 0 });
  const refused: number[] = [];
  const faults: string[] = [];
  const service = makeSearchService({
    index: decorate(pool),
    policy: world.policy,
    finder: {} as never,
    cursors: { encode: () => "cur_1", decode: () => ({ flags: 0, value: 0, id: "" }) } as never,
    clock: world.clock,
    lookUp: async () => ({ kbIds: [] }),
    onRefused: (count) => void refused.push(count),
    onFault: ({ name }) => void faults.push(name),
  });
  return {
    world,
    workspaceId,
    apply,
    refused,
    faults,
    /** Title and text of what is shown. */
    async ask() {
      const { entries, total } = await service.search(ana, { query: "kettle", limit: 10 });
      return { shown: entries.map(({ item, passages }) => `${item.title}: ${passages[0]?.text}`).toSorted(), total };
    },
    expected() {
      const open = [...model.items.values()].filter(isOpen);
      return {
        shown: open.map(({ text }) => `Title ${text.slice("kettle ".length)}: ${text}`).toSorted(),
        total: open.length,
      };
    },
    close: () => pool.close(),
  };
}

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ group: fc.nat(GROUPS.length - 1), isIn: fc.boolean() }),
  fc.record({
    item: fc.nat(ITEMS - 1),
    access: fc.nat(ACCESSES.length - 1),
    text: fc.constantFrom("red", "blue", "green"),
  }),
  fc.record({ removed: fc.nat(ITEMS - 1) }),
);

/** Between what a search knows of the asker and the moment in which it is answered, these things happen. */
function meanwhile(changes: () => Promise<void>, blind = false) {
  return (index: SearchIndex): SearchIndex => ({
    ...index,
    async show(request) {
      await changes();
      if (!blind) return index.show(request);
      for (let epoch = 0; ; epoch++) {
        const answer = await index.show({ ...request, viewer: { ...request.viewer, epoch } });
        if (answer !== undefined) return answer;
      }
    },
  });
}

async function checkMeanwhile(blind: boolean, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 3, maxLength: 12 }),
      fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      async (before, rounds) => {
        let next: readonly Change[] = [];
        const search = await makeSearch(
          meanwhile(async () => {
            const now = next;
            next = [];
            for (const one of now) await search.apply(one);
          }, blind),
        );
        for (const one of before) await search.apply(one);
        for (const round of rounds) {
          next = round;
          const answer = JSON.stringify(await search.ask());
          if (answer !== JSON.stringify(search.expected())) throw new Error(`shown: ${answer}`);
        }
        if (search.refused.length > 0) throw new Error("the records refused what the index gave");
        await search.close();
      },
    ),
    { numRuns: runs, seed: 7, endOnFailure: true },
  );
}

describe("an answer while rights and items change", () => {
  test("shows exactly what the person may see in the state that it is read from", async () => {
    await checkMeanwhile(false, 15);
  });

  test("would not, if a viewer of another epoch were believed", async ({ expect }) => {
    await expect(checkMeanwhile(true, 200)).rejects.toThrow(/Property failed/);
  });

  test("is refused when rights change each time before it can be read", async ({ expect }) => {
    let search: Awaited<ReturnType<typeof makeSearch>> | undefined;
    const raise = async () => search?.world.store.in(search.workspaceId).access.raiseEpoch();
    search = await makeSearch(meanwhile(async () => raise()));
    await expect(search.ask()).rejects.toMatchObject({ code: "unavailable" });
    await search.close();
  });
});

describe("the second verdict", () => {
  test("holds back what the records refuse, whatever the index says", async ({ expect }) => {
    const search = await makeSearch();
    for (const item of [0, 1, 2]) await search.apply({ item, access: 1, text: `number ${item}` });
    expect((await search.ask()).total).toBe(3);
    // Faults of the index: it was not told of an access, nor of a removal.
    const { write } = search.world.database;
    await write.updateTable("items").set({ aclId: 0 }).where("kbId", "=", kbIdOf(0)).execute();
    await write.updateTable("items").set({ removedAt: 1 }).where("kbId", "=", kbIdOf(1)).execute();
    expect(await search.ask()).toEqual({ shown: ["Title number 2: kettle number 2"], total: 1 });
    expect(search.refused).toEqual([2]);
    await search.close();
  });

  test("hides a hit whose access can't be read, and tells of it; the others are shown", async ({ expect }) => {
    const search = await makeSearch();
    await search.apply({ group: 0, isIn: true });
    await search.apply({ item: 0, access: 2, text: "number 0" });
    await search.apply({ item: 1, access: 1, text: "number 1" });
    expect((await search.ask()).total).toBe(2);
    const broken = search.world.database.write.updateTable("access_lists").set({ principals: "[" });
    await broken.where("principals", "like", "%grp_a%").execute();
    expect(await search.ask()).toEqual({ shown: ["Title number 1: kettle number 1"], total: 1 });
    expect(search.faults).toEqual(["SyntaxError"]);
    await search.close();
  });
});
