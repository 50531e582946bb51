import { createColors } from "picocolors";
import type { Input } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";

/** The colours of one stream; each returns the text unchanged when colours are off. */
export interface Paint {
  isColorSupported: boolean;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

/** Colours for a stream: `NO_COLOR`, `FORCE_COLOR`, `TERM=dumb` and --no-color take precedence over the terminal. */
export function makePaint(input: Pick<Input, "options">, deps: Pick<Deps, "env">, isTty: boolean): Paint {
  const { env } = deps;
  const isForced = Boolean(env["FORCE_COLOR"]) && env["FORCE_COLOR"] !== "0";
  const isForbidden = Boolean(env["NO_COLOR"]) || input.options.color === false || env["FORCE_COLOR"] === "0";
  return createColors(!isForbidden && (isForced || (isTty && env["TERM"] !== "dumb")));
}
