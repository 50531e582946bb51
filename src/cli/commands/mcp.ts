import { ApiError, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import { command, type CommonOptions } from "#cli/command.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { redact, type CliFailure } from "#cli/failure.ts";
import type { Host } from "#cli/host.ts";
import { findCredential, loadSettings } from "#cli/settings.ts";

/** The bridge's `BridgeLogin`, said again: its code and its types are loaded only when it runs. */
interface FoundLogin {
  mcpUrl: string;
  token: string;
  storedFor: string;
  from: string;
  isEnding?(): boolean;
}

export const mcp = command(
  {
    aliases: ["bridge"],
    summary: "Bridge an agent on stdin and stdout to the server's MCP endpoint.",
    details:
      "For agents that start a command. It answers at once and connects on the first request; stdout carries only MCP messages.",
    options: [
      { flags: "--log-file <file>", summary: "write the log to this file as well as to stderr" },
      { flags: "--verbose", summary: "log every call" },
    ],
    examples: ["kb mcp", "kb mcp --url https://kb.example.com"],
    isRemote: true,
  },
  runMcp,
);

/** Its own options and those of the server. */
export type McpOptions = Pick<CommonOptions, "url" | "profile"> & { verbose: boolean; logFile?: string | undefined };

export interface McpInput {
  args: object;
  options: McpOptions;
}

/** `kb mcp`: the bridge between a host on stdin/stdout and the server's /mcp. */
export async function runMcp(input: McpInput, deps: Host): Promise<number> {
  const { runBridge } = await import("#bridge/main.ts");
  const logFile = input.options.logFile;
  // Loaded for those who want it: the module of files costs the start more than the bridge's own code.
  const append = logFile === undefined ? undefined : (await import("node:fs")).appendFileSync;
  const isVerbose = input.options.verbose;
  return await runBridge({
    stdin: deps.io.stdin,
    stdout: deps.io.stdout,
    findLogin: makeFindLogin(input, deps),
    signal: deps.signal,
    log(level, message) {
      if (level === "debug" && !isVerbose) return;
      const line = `${isoOf(deps.clock.now())} ${level} ${redact(message).replace(/\s+/g, " ")}\n`;
      deps.io.stderr.write(line);
      if (logFile !== undefined) append?.(logFile, line, { mode: 0o600 });
    },
  });
}

/** Milliseconds before its end in which a token is no longer used; less than what the renewal takes as fresh. */
const ENDING_MS = 30_000;

/** The login as settings and files have it at the time of the call, so that a later `kb login` needs no restart. */
function makeFindLogin(input: McpInput, deps: Host): (refused?: string) => Promise<FoundLogin> {
  return async (refused) => {
    try {
      const settings = await loadSettings(deps, input.options);
      const credential = await findCredential(deps, settings, "mcp", refused);
      const { mcpUrl, origin, baseUrl } = settings.server;
      if (credential === undefined) throw new ApiError("unauthenticated", { message: notSignedInTo(baseUrl) });
      const { expiresAt, from, value } = credential;
      const isEnding = expiresAt === undefined ? undefined : () => expiresAt - ENDING_MS < deps.clock.now();
      return { mcpUrl, token: value, storedFor: origin, from, ...defined({ isEnding }) };
    } catch (error) {
      throw isCliFailure(error) ? forAgents(error) : error;
    }
  };
}

/** What an agent reads when nobody has signed in. Source: B18. */
function notSignedInTo(server: string): string {
  return `not_signed_in: this bridge has no login for ${server}, so ask the person to run: kb login ${server}`;
}

/** By its name: what is loaded only when it is needed has a class of its own in the built program. */
function isCliFailure(error: unknown): error is CliFailure {
  return error instanceof Error && error.name === "CliFailure";
}

/** A failure of the login in the bridge's own terms: its code first, then what the person does. */
function forAgents(failure: CliFailure): ApiError {
  const isSignIn = failure.exit === EXIT.notSignedIn;
  const code = isSignIn ? "not_signed_in" : failure.exit === EXIT.unreachable ? "unavailable" : failure.code;
  const hint = failure.hint === undefined ? "" : ` Ask the person to do this: ${failure.hint}`;
  return new ApiError(isSignIn ? "unauthenticated" : codeOf(failure), {
    message: `${code}: ${failure.message}${hint}`,
    cause: failure,
  });
}

function codeOf(failure: CliFailure): ErrorCode {
  // The key was just seen in the table.
  if (Object.hasOwn(ERROR_CODES, failure.code)) return failure.code as ErrorCode;
  return failure.exit === EXIT.usage ? "invalid_argument" : "unavailable";
}
