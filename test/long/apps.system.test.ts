// The short forms of `apps.ts`.
import { describeCosts } from "./apps/costs.suite.ts";
import { describeFleet } from "./apps/fleet.suite.ts";
import { describeKills } from "./apps/kills.suite.ts";

describeKills({ issues: 600, kills: 1 });
describeFleet({ count: 12, hugeIssues: 3_000 });
describeCosts({ issues: 50 });
