/** Reads the plain command lines of `kb mcp` without the parser of the other commands, because hosts wait for its start. */
import type { McpInput, McpOptions } from "#cli/commands/mcp.ts";

const VALUES: Record<string, "url" | "profile" | "logFile"> = {
  "--url": "url",
  "--profile": "profile",
  "--log-file": "logFile",
};

/**
 * Returns the input of `kb mcp` when every word after it belongs to one of its own options in the long form.
 *
 * @returns undefined for anything else, including help and mistakes, which the full parser handles
 */
export function readMcpArgv(argv: readonly string[]): McpInput | undefined {
  if (argv[0] !== "mcp" && argv[0] !== "bridge") return undefined;
  const options: McpOptions = { verbose: false };
  for (let at = 1; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const [name = "", inline] = word.split(/=(.*)/s);
    const key = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
    if (word === "--verbose") options.verbose = true;
    else if (key === undefined) return undefined;
    else {
      if (inline === undefined) at += 1;
      const value = inline ?? argv[at];
      if (value === undefined || value === "" || value.startsWith("-")) return undefined;
      options[key] = value;
    }
  }
  return { args: {}, options };
}
