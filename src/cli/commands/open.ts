import { addressOf } from "#cli/api.ts";
import { argument, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { usageFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { whyNoBrowser } from "#cli/oauth/sign-in.ts";
import { loadSettings } from "#cli/settings.ts";

/** `kb open [WHAT]`: a page of the server in the browser; its address is the data on stdout. */
export async function openPage(input: CommandInput, deps: Deps): Promise<void> {
  const { server, defaults } = await loadSettings(deps, input.options);
  const address = addressOf(server, pathOf(argument(input, 0)));
  const output = makeOutput(input, deps, defaults);
  output.line(address);
  const why = whyNoBrowser(deps);
  if (why !== undefined) output.talk(`No browser can be opened here (${why}).`);
  else if (!(await deps.openUrl(address))) output.talk("No browser could be opened here.");
}

function pathOf(what: string): string {
  if (what === "") return "/";
  if (what === "settings") return "/settings/mcp-access";
  if (/^kbi_[a-z0-9]+$/.test(what)) return `/i/${what}`;
  throw usageFailure(`There is no page "${what}".`, "kb open, kb open settings, or kb open kbi_… for an item.");
}
