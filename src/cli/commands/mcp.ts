import { textOption, type CommandInput } from "#cli/command.ts";
import { redact } from "#cli/failure.ts";
import type { Host } from "#cli/host.ts";
import { findCredential, loadSettings } from "#cli/settings.ts";

/** The bridge's `BridgeLogin`, said again: its code and its types are loaded only when it runs. */
interface FoundLogin {
  mcpUrl: string;
  token: string;
  storedFor: string;
  from: string;
}

/** `kb mcp`: the bridge between a host on stdin/stdout and the server's /mcp. */
export async function mcp(input: CommandInput, deps: Host): Promise<number> {
  const { runBridge } = await import("#bridge/main.ts");
  const logFile = textOption(input, "logFile");
  // Loaded for those who want it: the module of files costs the start more than the bridge's own code.
  const append = logFile === undefined ? undefined : (await import("node:fs")).appendFileSync;
  const isVerbose = input.options["verbose"] === true;
  return await runBridge({
    stdin: deps.io.stdin,
    stdout: deps.io.stdout,
    findLogin: makeFindLogin(input, deps),
    signal: deps.signal,
    log(level, message) {
      if (level === "debug" && !isVerbose) return;
      const line = `${new Date(deps.clock.now()).toISOString()} ${level} ${redact(message).replace(/\s+/g, " ")}\n`;
      deps.io.stderr.write(line);
      if (logFile !== undefined) append?.(logFile, line, { mode: 0o600 });
    },
  });
}

/** The login as settings and files have it at the time of the call, so that a later `kb login` needs no restart. */
function makeFindLogin(input: CommandInput, deps: Host): () => Promise<FoundLogin | undefined> {
  return async () => {
    const settings = await loadSettings(deps, input.options);
    const credential = await findCredential(deps, settings, "mcp");
    if (credential === undefined) return undefined;
    const { mcpUrl, origin } = settings.server;
    return { mcpUrl, token: credential.value, storedFor: origin, from: credential.from };
  };
}
