import { ApiError, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import { command, type CommonOptions } from "#cli/line/command.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { redact, type CliFailure } from "#cli/host/failure.ts";
import type { Host } from "#cli/host/host.ts";
import { checkEnvToken, findCredential, loadSettings } from "#cli/login/settings.ts";

/** A copy of the bridge's `BridgeLogin`. The bridge's code and types are loaded only when it runs. */
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
      "For agents that start a local command. It answers at once and connects on the first request; stdout carries only MCP messages.",
    options: { "--log-file <file>": "write the log to this file as well as to stderr", "--verbose": "log every call" },
    examples: ["kb mcp", "kb mcp --url https://kb.example.com"],
    isRemote: true,
  },
  runMcp,
);

/** The command's own options and those for the server. */
export type McpOptions = Pick<CommonOptions, "url" | "profile"> & { verbose: boolean; logFile?: string | undefined };

export interface McpInput {
  args: object;
  options: McpOptions;
}

/** `kb mcp`: runs the bridge between a host on stdin/stdout and the server's /mcp. */
export async function runMcp(input: McpInput, deps: Host): Promise<number> {
  const { runBridge } = await import("#bridge/main.ts");
  const warned = new Set<string>();
  const write = await makeLog(input.options, deps);
  const log: WriteLog = (level, message) => {
    // A wrong setting was reported at the start. Each call fails with the same error, but the log contains it only once.
    const isWarned = [...warned].some((text) => message.endsWith(text));
    write(isWarned ? "debug" : level, message);
  };
  const warn = (text: string): void => {
    log("warn", text);
    warned.add(text);
  };
  const { stdin, stdout } = deps.io;
  const findLogin = makeFindLogin(input, deps, warn);
  const running = runBridge({ stdin, stdout, findLogin, signal: deps.signal, log });
  // The check isn't awaited, because the host waits for the start, and a file that hangs must not keep the bridge from ending.
  void checkSettings(input, deps).catch((error: unknown) => warn(textOf(error)));
  return await running;
}

type WriteLog = (level: "debug" | "info" | "warn", message: string) => void;

/**
 * Writes lines to stderr and to the requested log file; if that can't be written, it is reported once and the bridge
 * continues.
 */
async function makeLog({ logFile, verbose }: McpOptions, { io, clock }: Host): Promise<WriteLog> {
  // Loaded on demand, because the module for files adds more to the start than the bridge's own code.
  const append = logFile === undefined ? undefined : (await import("#cli/host/log-file.ts")).makeLogFile(logFile);
  let isReported = false;
  const writeLine = (level: string, message: string): string => {
    const line = `${isoOf(clock.now())} ${level} ${redact(message).replace(/\s+/g, " ")}\n`;
    io.stderr.write(line);
    return line;
  };
  return (level, message) => {
    if (level === "debug" && !verbose) return;
    const line = writeLine(level, message);
    const failure = append?.(line);
    if (failure !== undefined && !isReported)
      writeLine("warn", `the log file ${logFile} can't be written (${failure})`);
    isReported = failure !== undefined;
  };
}

/** Checks the settings before any request. @throws ApiError */
async function checkSettings(input: McpInput, deps: Host): Promise<void> {
  await inAgentsWords(async () => checkEnvToken(deps, await loadSettings(deps, input.options)));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A token isn't used in the last milliseconds before its expiry. This is less than the remaining time below which the token is renewed. */
const ENDING_MS = 30_000;

/** Finds the login in the settings and files as they are when it is called, so that a later `kb login` needs no restart. */
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
    // A call may find a wrong setting before the check at the start does.
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

/** The message for an agent when no one has signed in. Source: B18. */
function notSignedInTo(server: string): string {
  return `not_signed_in: this bridge has no login for ${server}, so ask the person to run: kb login ${server}`;
}

/** Checked by name, because lazily loaded modules have a separate copy of the class in the built program. */
function isCliFailure(error: unknown): error is CliFailure {
  return error instanceof Error && error.name === "CliFailure";
}

/** Converts a login failure to the bridge's form: first its code, then the person's next step. */
function forAgents(failure: CliFailure): ApiError {
  const isSignIn = failure.exit === EXIT.notSignedIn;
  const code = OWN_CODES.get(failure.exit) ?? failure.code;
  const hint = failure.hint === undefined ? "" : ` Ask the person to do this: ${failure.hint}`;
  return new ApiError(isSignIn ? "unauthenticated" : codeOf(failure), {
    message: `${code}: ${failure.message}${hint}`,
    cause: failure,
  });
}

/** Codes for failures of the bridge's own settings: a call that finds a wrong setting must not report a wrong argument. */
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
  // The cast is safe because the key was just found in the table.
  return failure.code as ErrorCode;
}
