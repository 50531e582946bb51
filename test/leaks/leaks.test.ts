// The short forms of `leaks.system.test.ts`: the same suites with fewer people, rounds and faults. What changes over days is there alone.
import { describeConnections } from "./connections.suite.ts";
import { describeFiveActors } from "./five-actors.suite.ts";
import { IN_PROCESS } from "./kinds.ts";
import { describeKinds } from "./kinds.suite.ts";
import { STEPS } from "./kinds-history.ts";
import { describePlanted } from "./planted.suite.ts";
import { describeTwoWorlds } from "./two-worlds.suite.ts";

describeTwoWorlds({ personas: ["outside"], items: 8, rounds: 1 });
describeFiveActors({ items: 40, rounds: 1, speaking: 8 });
describeConnections({ steps: 4, seeds: [1], personas: ["outside"] });
describePlanted({
  rounds: 1,
  plants: ["any list instead of every list", "a count before the re-check", "a group's clock ignored"],
});

describeKinds("two apps", {
  kinds: IN_PROCESS.filter(({ name }) => name === "google-drive" || name === "confluence"),
  actors: ["fourth", "nobody"],
  steps: [STEPS.access],
  isShort: true,
  checks: 50,
});
