import { ApiError, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import { command, type CommonOptions } from "#cli/command.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { redact, type CliFailure } from "#cli/failure.ts";
import type { Host } from "#cli/host.ts";
import { checkEnvToken, findCredential, loadSettings } from "#cli/settings.ts";

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
  const said = new Set<string>();
  const write = await makeLog(input.options, deps);
  const log: WriteLog = (level, message) => {
    // A wrong setting was said at the start; each call repeats it, the log doesn't.
    const isSaid = [...said].some((text) => message.endsWith(text));
    write(isSaid ? "debug" : level, message);
  };
  const warn = (text: string): void => {
    log("warn", text);
    said.add(text);
  };
  const { stdin, stdout } = deps.io;
  const findLogin = makeFindLogin(input, deps, warn);
  const running = runBridge({ stdin, stdout, findLogin, signal: deps.signal, log });
  // Beside the start, for which the host waits; and no file that hangs keeps the bridge from ending.
  void checkSettings(input, deps).catch((error: unknown) => warn(textOf(error)));
  return await running;
}

type WriteLog = (level: "debug" | "info" | "warn", message: string) => void;

/** Writes lines to stderr and to the file that was asked for; one that can't be written is told once, and is no reason to end. */
async function makeLog({ logFile, verbose }: McpOptions, { io, clock }: Host): Promise<WriteLog> {
  // Loaded for those who want it: the module of files costs the start more than the bridge's own code.
  const append = logFile === undefined ? undefined : (await import("#cli/log-file.ts")).makeLogFile(logFile);
  let isToldOf = false;
  const writeLine = (level: string, message: string): string => {
    const line = `${isoOf(clock.now())} ${level} ${redact(message).replace(/\s+/g, " ")}\n`;
    io.stderr.write(line);
    return line;
  };
  return (level, message) => {
    if (level === "debug" && !verbose) return;
    const line = writeLine(level, message);
    const failure = append?.(line);
    if (failure !== undefined && !isToldOf) writeLine("warn", `the log file ${logFile} can't be written (${failure})`);
    isToldOf = failure !== undefined;
  };
}

/** What can be wrong with the settings before anybody is asked. @throws ApiError */
async function checkSettings(input: McpInput, deps: Host): Promise<void> {
  await inAgentsWords(async () => checkEnvToken(deps, await loadSettings(deps, input.options)));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Milliseconds before its end in which a token is no longer used; less than what the renewal takes as fresh. */
const ENDING_MS = 30_000;

/** The login as settings and files have it at the time of the call, so that a later `kb login` needs no restart. */
function makeFindLogin(
  input: McpInput,
  deps: Host,
  warn: (text: string) => void,
): (refused?: string) => Promise<FoundLogin> {
  return async (refused) => {
    const finding = inAgentsWords(async () => {
      const settings = await loadSettings(deps, input.options);
      const credential = await findCredential(deps, settings, "mcp", refused);
      const { mcpUrl, origin, baseUrl } = settings.server;
      if (credential === undefined) throw new ApiError("unauthenticated", { message: notSignedInTo(baseUrl) });
      const { expiresAt, from, value, warning } = credential;
      if (warning !== undefined) warn(warning);
      const isEnding = expiresAt === undefined ? undefined : () => expiresAt - ENDING_MS < deps.clock.now();
      return { mcpUrl, token: value, storedFor: origin, from, ...defined({ isEnding }) };
    });
    // A call may meet a wrong setting before the check at the start has.
    return await finding.catch((error: unknown) => {
      if (isSettingsFailure(error)) warn(error.message);
      throw error;
    });
  };
}

async function inAgentsWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isCliFailure(error) ? forAgents(error) : error;
  }
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
  const code = OWN_CODES.get(failure.exit) ?? failure.code;
  const hint = failure.hint === undefined ? "" : ` Ask the person to do this: ${failure.hint}`;
  return new ApiError(isSignIn ? "unauthenticated" : codeOf(failure), {
    message: `${code}: ${failure.message}${hint}`,
    cause: failure,
  });
}

/** What is wrong with a setting is no wrong argument of the call that meets it. */
const OWN_CODES = new Map<number, string>([
  [EXIT.notSignedIn, "not_signed_in"],
  [EXIT.unreachable, "unavailable"],
  [EXIT.usage, "settings_invalid"],
]);

function isSettingsFailure(error: unknown): error is ApiError {
  return error instanceof ApiError && error.message.startsWith("settings_invalid: ");
}

function codeOf(failure: CliFailure): ErrorCode {
  if (failure.exit === EXIT.usage || !Object.hasOwn(ERROR_CODES, failure.code)) return "unavailable";
  // The key was just seen in the table.
  return failure.code as ErrorCode;
}
