import { describe, test, vi } from "vitest";
import { startServer } from "./build.ts";
import { compareWorlds } from "./compare.ts";
import { makeRandom, type Persona } from "./model.ts";
import { makeConnectedModel, makeModel, withHidden } from "./worlds.ts";
import { ask, NOTHING_TO_ASK, staleRows, surface, vocabularyOf } from "./requests.ts";

// Several servers are filled and asked hundreds of questions: a shared machine may take its time.
vi.setConfig({ testTimeout: 300_000 });

interface Size {
  /** Who asks, each in two worlds of their own. */
  personas: readonly Persona[];
  /** Items of a world, and as many hidden ones in the other. */
  items: number;
  /** How often each route is asked. */
  rounds: number;
}

export function describeTwoWorlds({ personas, items, rounds }: Size): void {
  describe("what can't be seen changes nothing", () => {
    test("every route of the contract and every tool is asked, or says why not", ({ expect }) => {
      const words = vocabularyOf(makeModel(1), makeRandom(1));
      const routes = surface();
      expect(routes.length).toBeGreaterThan(40);
      for (const route of routes) ask(route, words);
      expect(staleRows()).toEqual([]);
      expect(() => ask("GET /api/brand-new", words)).toThrow("no generator");
      for (const why of Object.values(NOTHING_TO_ASK)) expect(why.length).toBeGreaterThan(5);
    });

    test.for(personas)(
      "%s gets byte for byte the same answers in a world with more hidden things in it",
      async (persona, { expect }) => {
        const model = makeConnectedModel(persona.length, items);
        const grown = withHidden(model, persona, items);
        expect(grown.items.length).toBeGreaterThan(model.items.length + items);
        const worlds = [await startServer(model), await startServer(grown)] as const;
        const report = await compareWorlds(worlds, persona, { seed: 7, rounds });
        expect(report.differences).toEqual([]);
        expect(report.asked).toBeGreaterThan(50 * rounds);
        // An answer that is the same because everything fails would prove nothing.
        expect(report.unanswered).toEqual([]);
      },
    );
  });
}
