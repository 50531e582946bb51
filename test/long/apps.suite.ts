import { describeCosts } from "./apps/costs.suite.ts";
import { describeFleet } from "./apps/fleet.suite.ts";
import { describeKills } from "./apps/kills.suite.ts";

const what = process.env["KB_TEST_APPS"];
const items = Number(process.env["KB_TEST_APPS_ITEMS"]) || 10_000;
const say = (line: string) => void process.stderr.write(`${line}\n`);

if (what === "kills") describeKills({ issues: items, kills: 10, say });
if (what === "fleet") describeFleet({ count: 50, hugeIssues: 6 * items, isManyTurns: true, say });
if (what === "costs") describeCosts({ issues: items, say });
