import { plural } from "#api/plural.ts";
import { command } from "#cli/line/command.ts";
import { DATA_DIR } from "#cli/line/options.ts";
import { makeOutput } from "#cli/terminal/output.ts";

/** `kb reindex`: the running server rebuilds the index, or the next server that starts. */
export const reindex = command(
  {
    summary: "Rebuild the search index from the stored items; search keeps working.",
    details:
      "A running server begins within seconds; otherwise, the rebuild begins at the next start. The old index answers until the new one is complete, also after an interruption. Run it as the user that runs the server.",
    options: DATA_DIR,
    examples: ["kb reindex --data-dir /var/lib/kb"],
    exitCodes: [7],
  },
  async (input, deps) => {
    const { withHostAdmin } = await import("#server/admin.ts");
    const { workspaces, isRunning } = await withHostAdmin(
      { flags: { dataDir: input.options.dataDir }, env: deps.env },
      (host) => host.reindex(),
    );
    const when = isRunning ? "The server now rebuilds" : "The next start of the server rebuilds";
    makeOutput(input, deps).talk(
      `${when} the index of ${plural(workspaces, "workspace")}. Search keeps working. To see when it is done: kb check`,
    );
  },
);
