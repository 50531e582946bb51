import { describeConnections } from "./connections.suite.ts";
import { describeChanges } from "./changes.suite.ts";
import { describeFiveActors, SPEAKING } from "./five-actors.suite.ts";
import { DATA_CENTERS } from "./kinds.ts";
import { findPrograms, KINDS } from "./kinds-programs.ts";
import { describeKinds, describePlantedKinds } from "./kinds.suite.ts";
import { STEPS } from "./kinds-history.ts";
import { describePlanted } from "./planted.suite.ts";
import { describeTwoWorlds } from "./two-worlds.suite.ts";

describeTwoWorlds({ personas: ["inside", "outside", "owner"], items: 30, rounds: 3 });
describeFiveActors({ items: 90, rounds: 3, speaking: SPEAKING.length });
describeChanges({ ends: Infinity, histories: 1, rounds: { minLength: 2, maxLength: 4 } });
describeConnections({ steps: 14, seeds: [1, 2, 3], personas: ["inside", "outside", "owner"] });
describePlanted({ rounds: 4 });
describeKinds("all apps that have a fake", { kinds: KINDS, isShort: true, checks: 900 });
describeKinds("the Data Center editions", { kinds: DATA_CENTERS, isShort: true, checks: 600 });
const programs = findPrograms();
const { access, moved, refused, healed, content, person, group } = STEPS;
// Who is removed twice is an error to a real program; what a refusal hides is known of what was there in the beginning.
const steps = [access, access, moved, refused, healed, content, person, group];
if (programs.length > 0) describeKinds("apps that run here", { kinds: programs, steps, isShort: true, checks: 600 });
describePlantedKinds(KINDS);
