// The short forms of `leaks.system.test.ts`: the same suites with fewer people, rounds and faults.
import { describeChanges } from "./changes.suite.ts";
import { describeFiveActors } from "./five-actors.suite.ts";
import { describePlanted } from "./planted.suite.ts";
import { describeTwoWorlds } from "./two-worlds.suite.ts";

describeTwoWorlds({ personas: ["outside"], items: 8, rounds: 1 });
describeFiveActors({ items: 40, rounds: 1, speaking: 8 });
describeChanges({ ends: 2, histories: 1, rounds: { minLength: 1, maxLength: 1 } });
describePlanted({
  rounds: 1,
  plants: ["any list instead of every list", "a count before the re-check", "a group's clock ignored"],
});
