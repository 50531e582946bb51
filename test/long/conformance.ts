/**
 * The MCP conformance suite against `/mcp`, and with the bridge and the client of provider servers as its clients: `npm run build && npx tsx
 * test/long/conformance.ts`. It needs Node 22, which npx brings. Prints one line for each scenario; fails when one fails
 * that is not listed in `conformance.suite.ts` with the reason.
 */
import { startVitest } from "vitest/node";

const run = await startVitest("test", [], {
  config: false,
  watch: false,
  include: ["test/long/conformance.suite.ts"],
  testTimeout: 1_800_000,
});
await run.close();
