/**
 * Everything that `kb mcp` loads; the build bundles it into one file (see tsup.config.ts). Hosts wait for the bridge's
 * start: up to the answer of `initialize` it took 40 ms of processor time more than an empty program with one file per
 * shared module, and 20 with one file.
 */
export { runMcp } from "#cli/commands/mcp.ts";
export { makeHost } from "#cli/host/host.ts";
export { readMcpArgv } from "./mcp-argv.ts";
