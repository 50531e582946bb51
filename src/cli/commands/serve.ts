import { flagOption, textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { makePaint } from "#cli/paint.ts";

const FLAGS = ["port", "host", "dataDir", "config"] as const;

/** `kb serve`: the server in this process, until it is told to end. */
export async function serve(input: CommandInput, deps: Deps): Promise<number> {
  const isTerminal = deps.io.isStdoutTty;
  const { runServer } = await import("#server/main.ts");
  return await runServer({
    flags: {
      ...Object.fromEntries(FLAGS.map((name) => [name, textOption(input, name)])),
      insecureHttp: flagOption(input, "insecureHttp") ? "on" : undefined,
    },
    env: deps.env,
    log: { fd: deps.outliveStdout(), isTerminal, hasColour: makePaint(input, deps, isTerminal).isColorSupported },
    stderr: deps.io.stderr,
    signal: deps.signal,
  });
}
