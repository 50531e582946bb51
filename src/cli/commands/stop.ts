import { textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { makeOutput } from "#cli/output.ts";
import { dataDirOf, stopServer } from "#cli/quickstart/server.ts";

/** `kb stop`: ends the server that quickstart started, and no other. */
export async function stop(input: CommandInput, deps: Deps): Promise<void> {
  const dataDir = dataDirOf(textOption(input, "dataDir"), deps);
  const url = await stopServer(dataDir, deps);
  const output = makeOutput(input, deps);
  output.talk(
    url === undefined ? `No server that quickstart started runs on ${dataDir}.` : `The server at ${url} is stopped.`,
  );
}
