import { command } from "#cli/line/command.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { dataDirOf, stopServer } from "#cli/quickstart/server.ts";
import { loadSettings } from "#cli/login/settings.ts";

/** `kb stop`: ends a server that quickstart started, and no other; by default, the server of the current profile. */
export const stop = command(
  {
    summary: "Stop the server that quickstart started.",
    options: {
      "--data-dir <folder>": "the server's data folder (default: KB_DATA_DIR, else that of the profile in use)",
    },
    examples: ["kb stop"],
  },
  async (input, deps) => {
    const named = input.options.dataDir ?? (deps.env["KB_DATA_DIR"] || undefined);
    const dataDir = dataDirOf(named ?? (await loadSettings(deps, input.options)).dataDir, deps);
    const url = await stopServer(dataDir, deps);
    const output = makeOutput(input, deps);
    output.talk(
      url === undefined
        ? `No server that quickstart started runs on ${dataDir}.${named === undefined ? " Another one: kb stop --data-dir FOLDER" : ""}`
        : `Stopped the server at ${url}.`,
    );
  },
);
