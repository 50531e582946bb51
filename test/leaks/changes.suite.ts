import * as fc from "fast-check";
import { describe, test, vi } from "vitest";
import { runs } from "../runs.ts";
import { startServer } from "./build.ts";
import { addRound, endJoins, ownModel, type Saying, sayAnything } from "./changes.ts";
import { countLeaks } from "./compare.ts";
import { HOUR_MS } from "./mirror.ts";
import { idFor, makeRandom, mayRead, NOW, type Model, type ModelItem, type Persona } from "./model.ts";
import { answersTo, keepParts } from "./oracle.ts";
import { makeMirroredModel } from "./worlds.ts";

// A shared machine may take its time.
vi.setConfig({ testTimeout: 300_000 * runs(1) });

const ASKING: readonly Persona[] = ["owner", "inside", "outside"];
const [WIKI, FORGE] = [idFor("connector", "wiki"), idFor("connector", "forge")];

/**
 * Histories that once went wrong: an item whose content failed, and whose readers were looked at alone; a space that a feed
 * did not look into, after its items had been looked at one by one; a part whose content failed, and which got readers of
 * its own then.
 */
const MET: [number, { pauses: [number, number]; seed: number }[]][] = [
  [
    2147483626,
    [
      { pauses: [5, 2], seed: 297225050 },
      { pauses: [5, 1], seed: 2147483638 },
    ],
  ],
  [
    597513826,
    [
      { pauses: [7, 20], seed: 1203731770 },
      { pauses: [4, 23], seed: 1772677034 },
    ],
  ],
  [75472605, [{ pauses: [13, 10], seed: 1955356615 }]],
];

/** What ends for somebody, one after the other. */
const ENDS: {
  what: string;
  whose: Persona;
  says?: (connectorId: string, seen: readonly ModelItem[]) => Saying;
  /** Everything is said again before. */
  isAfterAll?: true;
}[] = [
  {
    what: "a group is empty",
    whose: "inside",
    says: () => ({ groups: ({ group }, last) => (group.includes(":team-") ? [] : last) }),
  },
  {
    what: "who they are at the source is gone",
    whose: "outside",
    says: () => ({ users: ({ email }) => (email === null ? "active" : "gone") }),
  },
  {
    what: "the source refuses items",
    whose: "inside",
    says: (_connectorId, seen) => ({
      outcome: "partial",
      items: (item, last) => (item === seen[0] || item === seen[1] ? { says: "refused" } : last),
    }),
  },
  {
    what: "groups are refused",
    whose: "inside",
    isAfterAll: true,
    says: (connectorId) => (connectorId === WIKI ? {} : { outcome: "feed", groups: () => "refused" }),
  },
  {
    what: "items move to where others read",
    whose: "inside",
    isAfterAll: true,
    says: (_connectorId, [first]) => ({
      outcome: "feed",
      items: (item, last) =>
        item === first ? { says: "item", access: { known: true, all: [[]] }, space: "far" } : last,
    }),
  },
  {
    what: "a listed space names items no more",
    whose: "inside",
    isAfterAll: true,
    says: (_connectorId, seen) => {
      const gone = seen.filter(({ mirrored }) => mirrored?.space === "open").slice(1, 3);
      return {
        outcome: "partial",
        spaces: { open: "listed" },
        items: (item, last) => (gone.includes(item) ? { says: "nothing" } : last),
      };
    },
  },
  {
    what: "the source refuses everything",
    whose: "inside",
    says: (connectorId) => ({ outcome: connectorId === FORGE ? "unauthorized" : "proof" }),
  },
  {
    what: "a container is gone",
    whose: "inside",
    isAfterAll: true,
    says: (connectorId) => ({ spaces: connectorId === FORGE ? { open: "gone" } : {} }),
  },
  { what: "permissions are a day old", whose: "owner" },
];

interface Size {
  /** How many of the things that end are tried, the first ones. */
  ends: number;
  /** How many histories of changes are tried, and of how many rounds each. */
  histories: number;
  rounds: { minLength: number; maxLength: number };
}

export function describeChanges({ ends, histories, rounds }: Size): void {
  describe("what is mirrored", () => {
    test("is shown to no one any more on the question after their right has ended", async ({ expect }) => {
      const { plant, parts } = keepParts();
      const server = await startServer(ownModel(makeMirroredModel(9, 0)), plant);
      endJoins(server.model);
      const seenBy = (persona: Persona, model: Model = server.model) =>
        model.items.filter((item) => item.mirrored && mayRead(model, persona, item));
      let now = NOW;
      const check = async (what: string, whose: Persona) => {
        const { answers, expected } = await answersTo(server, parts(), whose);
        expect({ what, answers }).toEqual({ what, answers: expected });
        const { leaks } = await countLeaks(server, [whose], { seed: now, rounds: 1, isShort: true });
        expect({ what, leaks }).toEqual({ what, leaks: [] });
      };
      const goOn = async (hours: number, says?: (connectorId: string) => Saying) => {
        now += hours * HOUR_MS;
        if (says) {
          addRound(server.model, now, says);
          await server.hearAt(now);
          endJoins(server.model);
        }
        server.moveTo(now);
      };
      for (const { what, whose, says, isAfterAll } of ENDS.slice(0, ends)) {
        if (isAfterAll) await goOn(2, () => ({}));
        // Whatever is kept for somebody is kept.
        await answersTo(server, parts(), whose);
        const before = seenBy(whose);
        await goOn(says ? 2 : 25, says && ((connectorId) => says(connectorId, before)));
        await check(what, whose);
        const after = seenBy(whose);
        expect({ what, lost: before.some((item) => !after.includes(item)) }).toEqual({ what, lost: true });
      }
      await goOn(2, () => ({}));
      expect(seenBy("owner").length).toBeGreaterThan(0);
      expect((await server.clients.owner.delete(`/api/connectors/${WIKI}`)).status).toBe(202);
      const connectors = server.model.connectors.map((one) => ({
        ...one,
        isDeleting: one.isDeleting || one.connectorId === WIKI,
      }));
      // It told of everybody who was linked.
      server.model = { ...server.model, connectors, joins: new Map() };
      await check("its connector is being deleted", "owner");
      await server.hearAt(now);
      await check("its connector is deleted", "owner");
    });
  });

  describe("counts, facets and scores of what is mirrored", () => {
    test("are those of what may be read, whatever sources say and however much time passes", async ({ expect }) => {
      const step = fc.record({
        /** Until the sources are asked again, and until the questions after that. */
        pauses: fc.tuple(fc.integer({ min: 4, max: 22 }), fc.integer({ min: 0, max: 24 })),
        seed: fc.nat(),
      });
      await fc.assert(
        fc.asyncProperty(fc.nat(), fc.array(step, rounds), async (seed, steps) => {
          const { plant, parts } = keepParts();
          const server = await startServer(ownModel(makeMirroredModel(seed, 0)), plant);
          endJoins(server.model);
          let now = NOW;
          const check = async (what: string) => {
            for (const persona of ASKING) {
              const { answers, expected } = await answersTo(server, parts(), persona);
              expect({ what, persona, answers }).toEqual({ what, persona, answers: expected });
            }
          };
          await check("at first");
          for (const [at, { pauses, seed: dice }] of steps.entries()) {
            const random = makeRandom(dice);
            now += pauses[0] * HOUR_MS;
            addRound(server.model, now, sayAnything(random, server.model, now));
            await server.hearAt(now);
            endJoins(server.model);
            server.moveTo(now);
            await check(`round ${at}`);
            now += pauses[1] * HOUR_MS;
            server.moveTo(now);
            await check(`${pauses[1]} hours after round ${at}`);
          }
        }),
        { numRuns: runs(histories) + MET.length, endOnFailure: true, examples: MET },
      );
    });
  });
}
