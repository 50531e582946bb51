/**
 * Real sources at their size, over fakes behind real HTTP: `npx tsx test/long/apps.ts kills|fleet|costs [ITEMS]` (after
 * `npm run build`), and what is measured goes to stderr.
 *
 * - `kills`: a sync of 10,000 issues by the built server, killed at ten moments; a cut listing; 30 % fewer items.
 * - `fleet`: 50 connectors on two workers, one of them huge (60,000 issues), one failing, one limited: when each is done, in
 *   some 12 minutes.
 * - `costs`: requests and seconds for 10,000 issues of GitHub and Gitea, and requests of an idle increment.
 */
import { startVitest } from "vitest/node";

const [what = "kills", items = ""] = process.argv.slice(2);
const run = await startVitest("test", [], {
  config: false,
  watch: false,
  include: ["test/long/apps.suite.ts"],
  testTimeout: 6 * 3_600_000,
  env: { KB_TEST_APPS: what, KB_TEST_APPS_ITEMS: items },
});
await run.close();
