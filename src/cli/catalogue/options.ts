import type { OptionSpec } from "#cli/command.ts";

/** For commands that no token may do. */
export const PASSWORD_STDIN: OptionSpec = {
  flags: "--password-stdin",
  summary: "line 1 of stdin is your password, where it is needed again",
};
