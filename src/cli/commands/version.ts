import { VERSION } from "#api/version.ts";
import type { CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";

/** `kb version`, with options; alone it is answered before anything is loaded. */
export async function printVersion(_input: CommandInput, deps: Deps): Promise<void> {
  deps.io.stdout.write(`${VERSION}\n`);
}
