import { describe, test, vi } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { OpenList, OpenRead, Policy } from "#storage/policy/policy.ts";
import { makeVisibleCache } from "#storage/policy/visible.ts";
import type { SearchRequest, SearchResponse } from "#storage/search-index.ts";
import type { Principal } from "#core/principals.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { startServer, type Plant } from "./build.ts";
import { compareWorlds, countLeaks } from "./compare.ts";
import { HOUR_MS } from "./mirror.ts";
import { idFor, mayRead, mirrorsOf, NOW, PERSONAS, userIdOf, WORKSPACES, type Model } from "./model.ts";
import { makeMirroredModel, makeModel, withHidden } from "./worlds.ts";

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
  "an index that counts for everyone": {
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
  "an index that counts for everyone": "GET /api/connectors/search",
  "a field that only hidden items have": "GET /api/connectors/search",
  "a note on connectors that are not the reader's": "GET /api/connectors/search",
  "a name that a hidden twin makes unclear": "tool kb_get_file_content",
  "another answer for hidden than for absent": "GET /api/connectors/files/{fileId}/content",
};

/** Everybody whom somebody would stand for if nothing grew old: groups, joins and the clocks of connectors and items. */
type Ageless = (model: Model) => (principals: readonly Principal[]) => Principal[];

const groupsOf = (model: Model) => mirrorsOf(model).flatMap(({ mirror }) => mirror.groups);
const MIRRORS = ["wiki", "forge", "dark"].map((name) => `group:connector:${idFor("connector", name)}`);
/** Instants of clocks that nobody holds any more. */
const OVER = MIRRORS.flatMap((name) => [`${name}:${NOW - 30 * HOUR_MS}`, `${name}:0`]);

/** With the members that groups had when they were last read, whenever that was. */
const oldGroups: Ageless = (model) => (principals) => {
  const held = new Set(principals);
  for (let before = 0; before < held.size;) {
    before = held.size;
    for (const { group, told } of groupsOf(model)) {
      const members = told.findLast((said) => said !== undefined && said !== "not_looked_at");
      if (Array.isArray(members) && members.some((member) => held.has(member))) held.add(group);
    }
  }
  return [...held].sort();
};

const world = withHidden(makeMirroredModel(3, 20), "outside");
const withOldGroups = oldGroups(world);
const withClocks = (principals: readonly Principal[]) => [...new Set([...principals, ...MIRRORS, ...OVER])].sort();
const OUTSIDE = `user:${userIdOf("outside")}`;
/** Of `outside`, whom they are joined to at sources, whatever became of that. */
const withJoins = (principals: readonly Principal[]) =>
  principals.includes(OUTSIDE)
    ? withOldGroups([
        ...principals,
        ...[...world.joins].flatMap(([source, persona]) => (persona === "outside" ? [source] : [])),
      ])
    : [...principals];

type Wider = (principals: readonly Principal[]) => Principal[];

function asIf<Request extends SearchRequest>(request: Request, wider: Wider): Request {
  return { ...request, viewer: { ...request.viewer, principals: wider(request.viewer.principals) } };
}

/** The index sees what is stale, and so does the check by the records: as where the viewer is made wrong. */
function viewerOf(wider: Wider): Plant {
  return {
    policy: (real) => {
      const widened = <T extends { principals: readonly Principal[] }>(viewer: T): T => ({
        ...viewer,
        principals: wider(viewer.principals),
      });
      return {
        ...real,
        askAs: (actor, ask) => real.askAs(actor, (viewer) => ask(widened(viewer))),
        viewerOf: async (actor) => widened(await real.viewerOf(actor)),
      };
    },
  };
}

/** The second check alone. */
function recheckedBy(wider: Wider): Plant {
  return {
    policy: (real) => ({
      ...real,
      readVisible: (actor, kbIds, read) =>
        real.readVisible(actor, kbIds, async (open) => {
          const items = await open.store.items.accessOf(kbIds);
          const living = items.filter((item) => !item.isRemoved);
          const principals = wider(open.viewer.principals);
          const accesses = await open.store.access.visibleOf(
            living.map(({ aclId }) => aclId),
            principals,
          );
          return read({
            ...open,
            visible: new Set(living.filter(({ aclId }) => accesses.has(aclId)).map(({ kbId }) => kbId)),
          });
        }),
    }),
  };
}

/** What the index answers besides its hits is of a wider viewer. */
function wrongly(mix: (right: SearchResponse, wide: SearchResponse) => SearchResponse): Plant {
  const wider: Wider = (principals) => withClocks(withJoins(principals));
  return {
    index: (real) => ({
      ...real,
      search: async (request) => mix(await real.search(request), await real.search(asIf(request, wider))),
      show: async (request) => {
        const [right, wide] = [await real.show(request), await real.show(asIf(request, wider))];
        if (!right || !wide) return right;
        const { hits: _hits, ...mixed } = mix({ ...right, hits: [] }, { ...wide, hits: [] });
        const order = wide.shown.map(({ item }) => item.kbId);
        const shown = [...right.shown].sort((a, b) => order.indexOf(a.item.kbId) - order.indexOf(b.item.kbId));
        return { ...right, ...mixed, shown };
      },
    }),
  };
}

/** Leaks that time makes, where one of its clocks is forgotten. */
const STALE_PLANTS: Record<string, Plant> = {
  "a group's clock ignored": viewerOf(withOldGroups),
  "a join's clock ignored": viewerOf(withJoins),
  "an item's clock ignored in the index' visible set": {
    index: (real) => ({
      ...real,
      search: (request) => real.search(asIf(request, withClocks)),
      show: (request) => real.show(asIf(request, withClocks)),
    }),
  },
  "an item's clock ignored by the check on the records": recheckedBy(withClocks),
  "the clock of an exception ignored": recheckedBy((principals) => [...principals, ...OVER].sort()),
  "df that counts what is stale": wrongly((right) => right),
  "facets that count what is stale": wrongly((right, wide) => ({ ...right, facets: wide.facets })),
  "an entity named by what is stale": {
    policy: (real) => {
      const cache = makeVisibleCache();
      return {
        ...real,
        readList: (actor, read) =>
          real.readList(actor, async (open) => {
            const principals = withClocks(open.viewer.principals);
            return read({ ...open, accesses: await cache.of(open.store.access, principals) });
          }),
      };
    },
  },
};

/** The route that meets it first when all are asked in their order. */
const STALE_FOUND_BY: Record<string, string> = {
  "a group's clock ignored": "GET /api/connectors/search",
  "a join's clock ignored": "GET /api/connectors/search",
  "an item's clock ignored in the index' visible set": "GET /api/connectors/search",
  "an item's clock ignored by the check on the records": "GET /api/connectors/files/{fileId}",
  "the clock of an exception ignored": "GET /api/connectors/files/{fileId}",
  "df that counts what is stale": "GET /api/connectors/search",
  "facets that count what is stale": "GET /api/connectors/search",
  "an entity named by what is stale": "GET /api/entities",
};

// Several servers are filled and asked hundreds of questions: a shared machine may take its time.
vi.setConfig({ testTimeout: 300_000 });

/** One of several plants at a time, in servers that are made once: `choose` says which. */
function makeSwitch(plants: Readonly<Record<string, Plant>>) {
  let chosen = "";
  /** The real part, or what the chosen plant puts in its place, decided at each call. */
  function switched<Part extends object>(real: Part, made: ReadonlyMap<string, Part>): Part {
    const now = () => made.get(chosen) ?? real;
    // A part is a function, or an object of functions.
    if (typeof real === "function") return ((...args: unknown[]) => (now() as Calls)(...args)) as unknown as Part;
    const parts = Object.keys(real).map((key) => {
      const call = (...args: unknown[]) => (now() as Record<string, Calls>)[key]?.(...args);
      return [key, call];
    });
    return Object.fromEntries(parts) as Part;
  }
  const parts = new Set(Object.values(plants).flatMap((plant) => Object.keys(plant))) as Set<keyof Plant>;
  const plant = Object.fromEntries(
    [...parts].map((name) => [
      name,
      (real: object, store: Store) => {
        const made = Object.entries(plants).flatMap(([title, { [name]: replace }]) =>
          // The part that this replaces is the one that it is given.
          replace ? [[title, (replace as (real: object, store: Store) => object)(real, store)] as const] : [],
        );
        return switched(real, new Map(made));
      },
    ]),
  ) as Plant;
  return { plant, choose: (name: string) => void (chosen = name) };
}

type Calls = (...args: unknown[]) => unknown;

const WORLDS = [
  { what: "pushed", model: () => makeModel(3, 40), plants: PLANTS, foundBy: FOUND_BY, seed: 5 },
  { what: "mirrored", model: () => makeMirroredModel(3, 20), plants: STALE_PLANTS, foundBy: STALE_FOUND_BY, seed: 1 },
];

interface Size {
  /** Names of those that are tried; all unless given. */
  plants?: readonly string[];
  /** How often each route is asked once rights have ended. */
  rounds: number;
}

export function describePlanted({ plants: tried, rounds }: Size): void {
  describe.for(WORLDS)("the two-world test of what is $what", ({ model: makeWorld, plants, foundBy, seed }) => {
    test("goes red on each planted leak", async ({ expect }) => {
      const model = makeWorld();
      const { plant, choose } = makeSwitch(plants);
      const worlds = [await startServer(model, plant), await startServer(withHidden(model, "outside"), plant)] as const;
      const missed: string[] = [];
      for (const name of Object.keys(plants).filter((each) => tried?.includes(each) ?? true)) {
        const route = foundBy[name];
        const asked = { seed, rounds: 20, isEnough: 1, ...(route && { route }) };
        choose(name);
        if ((await compareWorlds(worlds, "outside", asked)).differences.length === 0) missed.push(name);
      }
      expect(missed).toEqual([]);
    });
  });

  describe("the five-actor test", () => {
    test.for([
      ["person", "owner"],
      ["workspace", "stranger"],
    ] as const)(
      "goes red when the visible set is kept without the %s in its key",
      async ([fault, first], { expect }) => {
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
      },
    );
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
        connectors: before.connectors.map((one) =>
          one.connectorId === board ? { ...one, members: ["removed"] } : one,
        ),
        groups: new Map([...before.groups, [staff, rest]]),
      };
      const lost = before.items.filter((item) => mayRead(before, "inside", item) && !mayRead(after, "inside", item));
      const { leaks } = await countLeaks({ ...server, model: after }, ["inside"], {
        seed: 2,
        rounds,
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
}
