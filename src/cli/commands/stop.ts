import { textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { makeOutput } from "#cli/output.ts";
import { dataDirOf, stopServer } from "#cli/quickstart/server.ts";
import { loadSettings } from "#cli/settings.ts";

/** `kb stop`: ends the server that quickstart started, and no other; that of the profile in use unless a folder is named. */
export async function stop(input: CommandInput, deps: Deps): Promise<void> {
  const named = textOption(input, "dataDir") ?? (deps.env["KB_DATA_DIR"] || undefined);
  const dataDir = dataDirOf(named ?? (await loadSettings(deps, input.options)).dataDir, deps);
  const url = await stopServer(dataDir, deps);
  const output = makeOutput(input, deps);
  output.talk(
    url === undefined
      ? `No server that quickstart started runs on ${dataDir}.${named === undefined ? " Another one: kb stop --data-dir FOLDER" : ""}`
      : `Stopped the server at ${url}.`,
  );
}
