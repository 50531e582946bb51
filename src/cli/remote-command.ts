/** A command that calls a server as the person who is signed in: most commands. */
import { connect, type Api } from "./api.ts";
import { command, type Command, type CommandData, type InputOf } from "./command.ts";
import type { Deps } from "./deps.ts";
import { EXIT } from "./exit-codes.ts";
import { makeOutput, type Output } from "./output.ts";

/** Without what holds for all of them: that they call a server, and the exit codes for that. */
export type RemoteData = Omit<CommandData, "isRemote">;

/** What a handler works with. */
export type Remote<D extends RemoteData> = InputOf<D> & { api: Api; output: Output; deps: Deps };

const EXIT_CODES = [EXIT.notSignedIn, EXIT.unreachable];

/**
 * Makes a command whose handler starts with a connection. One that refuses its words before it asks for a sign-in is a
 * `command`, and connects itself.
 */
export function remoteCommand<const D extends RemoteData>(
  data: D,
  run: (remote: Remote<D>) => Promise<number | void>,
): Command {
  const exitCodes = [...(data.exitCodes ?? []), ...EXIT_CODES].sort((a, b) => a - b);
  return command<RemoteData>({ ...data, exitCodes, isRemote: true }, async (input, deps) => {
    const api = await connect(input, deps);
    const output = makeOutput(input, deps, api.settings.defaults);
    // The parser reads the words by this data.
    return await run({ ...(input as InputOf<D>), api, output, deps });
  });
}
