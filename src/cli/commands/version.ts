import { VERSION } from "#api/version.ts";
import { command } from "#cli/line/command.ts";

/** `kb version` with options. Without options, it is answered before anything is loaded. */
export const version = command(
  {
    summary: "Print the version.",
    examples: ["kb version"],
  },
  async (_input, deps) => {
    deps.io.stdout.write(`${VERSION}\n`);
  },
);
