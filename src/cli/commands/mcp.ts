import { appendFileSync } from "node:fs";
import { textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { redact } from "#cli/failure.ts";
import { findCredential, loadSettings } from "#cli/settings.ts";

/** The bridge's `BridgeLogin`, said again: its code and its types are loaded only when it runs. */
interface FoundLogin {
  mcpUrl: string;
  token: string;
  storedFor: string;
  from: string;
}

/** `kb mcp`: the bridge between a host on stdin/stdout and the server's /mcp. */
export async function mcp(input: CommandInput, deps: Deps): Promise<number> {
  const { runBridge } = await import("#bridge/main.ts");
  const logFile = textOption(input, "logFile");
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
      if (logFile !== undefined) appendFileSync(logFile, line, { mode: 0o600 });
    },
  });
}

/** The login as settings and files have it at the time of the call, so that a later `kb login` needs no restart. */
function makeFindLogin(input: CommandInput, deps: Deps): () => Promise<FoundLogin | undefined> {
  return async () => {
    const settings = await loadSettings(deps, input.options);
    const credential = await findCredential(deps, settings, "mcp");
    if (credential === undefined) return undefined;
    const { mcpUrl, origin } = settings.server;
    return { mcpUrl, token: credential.value, storedFor: origin, from: credential.from };
  };
}
