import type { OptionSpec } from "#cli/command.ts";

/** For commands that no token may do. */
export const PASSWORD_STDIN: OptionSpec = {
  flags: "--password-stdin",
  summary: "read your password from line 1 of stdin, when it is needed again",
};
