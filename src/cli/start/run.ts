/** Runs `kb` once: parses, loads the handler, runs it, and reports failures. It never exits; `main.ts` does. */
import type { Deps } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { interrupted, redact, toFailure, type CliFailure } from "#cli/host/failure.ts";
import { parseArgv } from "./parse.ts";

/**
 * Runs the command line after `kb`.
 *
 * @returns the exit code
 */
export async function runCli(argv: readonly string[], deps: Deps): Promise<number> {
  if (argv[0] === "__complete") return await printCompletions(argv.slice(1), deps);
  try {
    const parsed = await parseArgv(argv, deps.io.columns());
    if ("text" in parsed) {
      deps.io.stdout.write(parsed.text);
      return EXIT.ok;
    }
    return (await parsed.command.run(parsed.input, deps)) ?? EXIT.ok;
  } catch (error) {
    const failure = deps.signal.aborted && isAbort(error) ? interrupted() : toFailure(error);
    await report(failure, failure.hint ?? (await listHint(failure, argv)), argv, deps);
    return failure.exit;
  }
}

/** Prints a line for each word that can follow, for the scripts of `kb completion`. */
async function printCompletions(words: readonly string[], deps: Deps): Promise<number> {
  const { complete } = await import("./complete.ts");
  for (const { word, summary } of complete(words)) deps.io.stdout.write(`${word}\t${summary}\n`);
  return EXIT.ok;
}

/** Suggests the noun's list after a failed look-up, if the noun has one. */
async function listHint({ exit }: CliFailure, [noun, verb]: readonly string[]): Promise<string | undefined> {
  if (exit !== EXIT.notFound || verb === "list" || verb === "ls") return undefined;
  const { COMMANDS } = await import("#cli/generated/table.ts");
  return COMMANDS.some(({ name }) => name === `${noun} list`) ? `kb ${noun} list` : undefined;
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

/** As wide as "kb: ", so that all lines of a failure are aligned. */
const INDENT = "    ";

async function report(
  failure: CliFailure,
  hint: string | undefined,
  argv: readonly string[],
  deps: Deps,
): Promise<void> {
  const { code, requestId } = failure;
  const isJson = argv.some((part) => part === "--json" || part.startsWith("--json="));
  // Messages may quote foreign text, so they are cleaned like everything that is printed.
  const { safeJson, safeText, wrapTalk } = await import("#cli/terminal/output.ts");
  if (isJson) {
    const error = {
      code,
      message: redact(failure.message),
      ...(hint ? { hint: redact(hint) } : {}),
      ...(requestId ? { requestId } : {}),
    };
    deps.io.stderr.write(`${safeJson({ error }, 0)}\n`);
    return;
  }
  const lines = [`kb: ${failure.message}`];
  if (hint !== undefined) lines.push(INDENT + hint.replaceAll("\n", `\n${INDENT}`));
  // The request ID helps the server's operator when the server is at fault.
  const isWanted = (failure.status ?? 0) >= 500 || argv.includes("--verbose");
  if (requestId !== undefined && isWanted) lines.push(`${INDENT}Request id: ${requestId}`);
  deps.io.stderr.write(`${wrapTalk(safeText(lines.join("\n")), deps.io)}\n`);
  if (deps.env["KB_DEBUG"] && failure.cause instanceof Error) {
    deps.io.stderr.write(`${safeText(failure.cause.stack ?? "")}\n`);
  }
}
