import { ACCESS } from "./access.ts";
import { FAILURES } from "./failures.ts";
import { ITEMS } from "./items.ts";
import type { Faults } from "./plant.ts";
import { RUNS } from "./runs.ts";
import { SPEC } from "./spec.ts";

export { makeFaultyFixture } from "./plant.ts";

/** Every way of being wrong that the kit must see. */
export const FAULTS: Faults = { ...RUNS, ...ITEMS, ...ACCESS, ...FAILURES, ...SPEC };
