import type { CommonOptions } from "#cli/line/command.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { interrupted, usageFailure } from "#cli/host/failure.ts";

/** Continues only after a yes: `--yes`, or the person's answer. Without a terminal the flag is required. */
export async function confirmed(
  options: CommonOptions & { yes: boolean },
  deps: Deps,
  question: string,
): Promise<void> {
  if (options.yes) return;
  if (!canAsk(deps, options)) throw usageFailure(`${question} There is no terminal to ask on.`, "Add --yes.");
  if (!(await deps.prompts.confirm(question))) throw interrupted("Nothing was changed.");
}
