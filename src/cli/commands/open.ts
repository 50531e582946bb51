import { addressOf } from "#cli/calls/api.ts";
import { command } from "#cli/line/command.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { whyNoBrowser } from "#cli/sign-in/sign-in.ts";
import { loadSettings } from "#cli/login/settings.ts";

/** `kb open [WHAT]`: opens a page of the server in the browser and prints its address on stdout. */
export const open = command(
  {
    summary: "Open the server's web page in the browser, and print its address.",
    arguments: { "[what]": "settings, or kbi_… for an item (default: the start page)" },
    examples: ["kb open", "kb open settings"],
    isRemote: true,
  },
  async (input, deps) => {
    const { server, defaults } = await loadSettings(deps, input.options);
    const address = addressOf(server, pathOf(input.args.what ?? ""));
    const output = makeOutput(input, deps, defaults);
    output.line(address);
    const why = whyNoBrowser(deps);
    if (why !== undefined) output.talk(`No browser can be opened here (${why}).`);
    else if (!(await deps.openUrl(address))) output.talk("No browser could be opened here.");
  },
);

function pathOf(what: string): string {
  if (what === "") return "/";
  if (what === "settings") return "/settings/mcp-access";
  if (/^kbi_[a-z0-9]+$/.test(what)) return `/i/${what}`;
  throw usageFailure(`There is no page "${what}".`, "kb open, kb open settings, or kb open kbi_… for an item.");
}
