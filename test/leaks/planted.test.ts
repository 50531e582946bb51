import { describe, test, vi } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { OpenList, OpenRead, Policy } from "#storage/access/policy.ts";
import { makeVisibleCache } from "#storage/access/visible.ts";
import type { SearchRequest } from "#storage/search-index.ts";
import type { Principal } from "#core/principals.ts";
import type { WorkspaceStore } from "#storage/store.ts";
import { startServer, type Plant } from "./build.ts";
import { compareWorlds, countLeaks } from "./compare.ts";
import { idFor, makeModel, mayRead, PERSONAS, userIdOf, withHidden, WORKSPACES, type Model } from "./model.ts";

type Rule = (lists: Principal[][], held: ReadonlySet<Principal>) => boolean;

/** A policy that judges by another rule, everywhere it judges. */
function judgingBy(rule: Rule): Plant {
  const kept = new Map<string, Promise<Map<number, boolean>>>();
  const verdictsOf = ({ store, viewer }: Pick<OpenRead, "store" | "viewer">) => {
    const key = [store.workspaceId, ...viewer.principals].join("\n");
    const verdicts = kept.get(key) ?? judgeAll(store, viewer.principals, rule);
    kept.set(key, verdicts);
    return verdicts;
  };
  return {
    policy: (real) => ({
      ...real,
      readList: (actor, read) =>
        real.readList(actor, async (open) => {
          const verdicts = await verdictsOf(open);
          return read({ ...open, accesses: { has: (aclId) => verdicts.get(aclId) === true } });
        }),
      readVisible: (actor, kbIds, read) =>
        real.readVisible(actor, kbIds, async (open) => {
          const verdicts = await verdictsOf(open);
          const items = await open.store.items.accessOf(kbIds);
          const visible = items.filter((item) => !item.isRemoved && verdicts.get(item.aclId) === true);
          return read({ ...open, visible: new Set(visible.map((item) => item.kbId)) });
        }),
    }),
  };
}

async function judgeAll(
  store: WorkspaceStore,
  principals: readonly Principal[],
  rule: Rule,
): Promise<Map<number, boolean>> {
  const held = new Set(principals);
  const all = Array.from({ length: (await store.access.marks()).aclId + 1 }, (_, aclId) => aclId);
  const verdicts = new Map<number, boolean>();
  for (const aclId of all) verdicts.set(aclId, rule(await store.access.listsOf(aclId), held));
  return verdicts;
}

const meets = (list: Principal[], held: ReadonlySet<Principal>) => list.some((principal) => held.has(principal));

const GATES = ["docs", "board", "mine", "vault", "secret"];

function forEverybody<Request extends SearchRequest>(request: Request): Request {
  const everybody = PERSONAS.map((persona) => `user:${userIdOf(persona)}`);
  const gates = GATES.map((name) => `group:connector:${idFor("connector", name)}`);
  const principals = [...new Set([...request.viewer.principals, ...everybody, ...gates])].sort();
  return { ...request, viewer: { ...request.viewer, principals } };
}

/** A child that has its parent's access, whatever its own says. */
const INHERITING: Plant = {
  policy: (real) => ({
    ...real,
    readVisible: (actor, kbIds, read) =>
      real.readVisible(actor, kbIds, async (open) => {
        const { itemWrites, items, access } = open.store;
        const visible = new Set(open.visible);
        for (const { kbId, connectorId, parentExternalId } of await items.records(kbIds)) {
          const parent =
            parentExternalId === null ? undefined : await itemWrites.findStored(connectorId, parentExternalId);
          const [judged] = parent ? await items.accessOf([parent.kbId]) : [];
          if (judged && (await access.visibleOf([judged.aclId], open.viewer.principals)).size > 0) visible.add(kbId);
        }
        return read({ ...open, visible });
      }),
  }),
};

/** Leaks as they are really made, each in the place of the part that could make it. Source: S9, S25. */
const PLANTS: Record<string, Plant> = {
  "`every` on no lists": judgingBy((lists, held) => lists.every((list) => meets(list, held))),
  "matches counted instead of lists": judgingBy((lists, held) => {
    const matches = lists.flat().filter((principal) => held.has(principal));
    return lists.length > 0 && matches.length >= lists.length;
  }),
  "any list instead of every list": judgingBy((lists, held) => lists.some((list) => meets(list, held))),
  "a child's own access ignored": INHERITING,
  "a count before the re-check": {
    files: (real, store) => ({
      ...real,
      async list(actor, query) {
        const page = await real.list(actor, query);
        const counts = await store.in(actor.workspaceId).items.counts({}, undefined, 10_000);
        return { ...page, total: counts.reduce((sum, row) => sum + row.count, 0) };
      },
    }),
  },
  "an index that counts for everybody": {
    index: (real) => ({
      ...real,
      search: (request) => real.search(forEverybody(request)),
      show: (request) => real.show(forEverybody(request)),
    }),
  },
  "a field that only hidden items have": {
    index: (real) => ({
      ...real,
      search: (request) => {
        const isProbe = request.filters.fields !== undefined && request.limit === 0 && request.query === "";
        return real.search(isProbe ? forEverybody(request) : request);
      },
    }),
  },
  "a note on connectors that are not the reader's": {
    connectorNotes: (_real, store) => async (actor) => {
      const counts = await store.in(actor.workspaceId).items.counts({}, undefined, 10_000);
      return [`${counts.map((row) => `${row.source} has ${row.count} items`).join("; ")}.`];
    },
  },
  "a name that a hidden twin makes unclear": {
    files: (real, store) => ({
      ...real,
      async resolve(actor, asked) {
        const all = await store.in(actor.workspaceId).items.matches({ title: asked }, undefined, 10);
        if (all.length > 1) throw new ApiError("invalid_argument", { message: "It fits several items." });
        return real.resolve(actor, asked);
      },
    }),
  },
  "another answer for hidden than for absent": {
    files: (real, store) => ({
      ...real,
      async text(actor, kbId, range) {
        const [known] = await store.in(actor.workspaceId).items.accessOf([kbId]);
        return real.text(actor, kbId, known ? range : { ...range, offset: 0 }).catch((error: unknown) => {
          if (known && error instanceof Error) error.message = "You may not read this.";
          throw error;
        });
      },
    }),
  },
};

/** The route that meets it first when all are asked in their order. */
const FOUND_BY: Record<string, string> = {
  "`every` on no lists": "GET /api/connectors",
  "matches counted instead of lists": "GET /api/connectors",
  "any list instead of every list": "GET /api/connectors",
  "a child's own access ignored": "GET /api/connectors/files/{fileId}",
  "a count before the re-check": "GET /api/connectors/all-files",
  "an index that counts for everybody": "GET /api/connectors/search",
  "a field that only hidden items have": "GET /api/connectors/search",
  "a note on connectors that are not the reader's": "GET /api/connectors/search",
  "a name that a hidden twin makes unclear": "tool kb_get_file_content",
  "another answer for hidden than for absent": "GET /api/connectors/files/{fileId}/content",
};

// Several servers are filled and asked hundreds of questions: a shared machine may take its time.
vi.setConfig({ testTimeout: 180_000 });

describe("the two-world test", () => {
  test.for(Object.keys(PLANTS))("goes red on a planted leak: %s", async (name, { expect }) => {
    const model = makeModel(3, 40);
    const plant = PLANTS[name] ?? {};
    const worlds = [await startServer(model, plant), await startServer(withHidden(model, "outside"), plant)] as const;
    const route = FOUND_BY[name];
    const report = await compareWorlds(worlds, "outside", { seed: 5, rounds: 6, isEnough: 1, ...(route && { route }) });
    expect(report.differences.length).toBeGreaterThan(0);
  });
});

describe("the five-actor test", () => {
  test.for([
    ["person", "owner"],
    ["workspace", "stranger"],
  ] as const)("goes red when the visible set is kept without the %s in its key", async ([fault, first], { expect }) => {
    let kept: OpenList["accesses"] | undefined;
    const cache = makeVisibleCache();
    const accessesOf = async ({ store, viewer, accesses }: OpenList) => {
      if (fault === "person") return (kept ??= accesses);
      return cache.of({ ...store.access, workspaceId: "any" }, viewer.principals);
    };
    const plant: Plant = {
      policy: (real) => ({
        ...real,
        readList: (actor, read) =>
          real.readList(actor, async (open) => read({ ...open, accesses: await accessesOf(open) })),
      }),
    };
    const server = await startServer(makeModel(4, 150), plant);
    // The first one to ask fills what is kept; nothing of theirs may come out to the other.
    expect((await countLeaks(server, [first], { seed: 1, rounds: 1 })).leaks).toEqual([]);
    const { leaks } = await countLeaks(server, ["outside"], { seed: 1, rounds: 1, isEnough: 1 });
    expect(leaks.length).toBeGreaterThan(0);
  });
});

describe("rights that end between two questions", () => {
  /** Asks as `inside` before and after they leave the staff and their connector. */
  async function leaksAfterNarrowing(plant: Plant, isEnough?: number): Promise<{ leaks: string[]; lost: number }> {
    const before = makeModel(9, 150);
    const server = await startServer(before, plant);
    await countLeaks(server, ["inside"], { seed: 1, rounds: 1 });
    const staff = `group:${idFor("group", "group:grp_staff")}`;
    const rest = [`user:${userIdOf("removed")}`];
    await server.store.in(WORKSPACES.one).access.setMembers(staff, rest, "kb");
    const board = idFor("connector", "board");
    await server.store.in(WORKSPACES.one).access.setMembers(`group:connector:${board}`, rest, "kb");
    const after: Model = {
      ...before,
      connectors: before.connectors.map((one) => (one.connectorId === board ? { ...one, members: ["removed"] } : one)),
      groups: new Map([...before.groups, [staff, rest]]),
    };
    const lost = before.items.filter((item) => mayRead(before, "inside", item) && !mayRead(after, "inside", item));
    const { leaks } = await countLeaks({ ...server, model: after }, ["inside"], {
      seed: 2,
      rounds: 4,
      ...(isEnough !== undefined && { isEnough }),
    });
    return { leaks, lost: lost.length };
  }

  test("show nothing more on the next question", async ({ expect }) => {
    const { leaks, lost } = await leaksAfterNarrowing({});
    expect(lost).toBeGreaterThan(3);
    expect(leaks).toEqual([]);
  });

  test("would show: the visible set of another epoch is found out", async ({ expect }) => {
    const kept = new Map<string, Awaited<ReturnType<Policy["viewerOf"]>>>();
    const cache = makeVisibleCache();
    const stale: Plant = {
      policy: (real) => ({
        ...real,
        readList: (actor, read) =>
          real.readList(actor, async (open) => {
            const viewer = kept.get(actor.userId) ?? open.viewer;
            kept.set(actor.userId, viewer);
            return read({
              ...open,
              viewer,
              accesses: await cache.of(open.store.access, viewer.principals),
            });
          }),
      }),
    };
    expect((await leaksAfterNarrowing(stale, 1)).leaks.length).toBeGreaterThan(0);
  });
});
