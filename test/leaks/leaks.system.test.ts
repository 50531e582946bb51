import { describeChanges } from "./changes.suite.ts";
import { describeFiveActors, SPEAKING } from "./five-actors.suite.ts";
import { describePlanted } from "./planted.suite.ts";
import { describeTwoWorlds } from "./two-worlds.suite.ts";

describeTwoWorlds({ personas: ["inside", "outside", "owner"], items: 30, rounds: 3 });
describeFiveActors({ items: 90, rounds: 3, speaking: SPEAKING.length });
describeChanges({ ends: Infinity, histories: 1, rounds: { minLength: 2, maxLength: 4 } });
describePlanted({ rounds: 4 });
