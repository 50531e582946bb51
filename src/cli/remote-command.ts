/** Commands that call a server as the person who is signed in: most of them. */
import type { ListKey, ListPath, RecordOf } from "#api/client.ts";
import { connect, type Api } from "./api.ts";
import { fieldsOf, type Command, type CommandData, type InputOf } from "./command.ts";
import type { Deps } from "./deps.ts";
import { EXIT } from "./exit-codes.ts";
import { makeOutput, type Output } from "./output.ts";
import type { Columns } from "./table.ts";

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
  const connected = async (input: InputOf<D>, deps: Deps): Promise<number | void> => {
    const api = await connect(input, deps);
    return await run({ ...input, api, output: makeOutput(input, deps, api.settings.defaults), deps });
  };
  return { ...data, exitCodes, isRemote: true, run: connected };
}

/** A list that only prints every record of a route. `key` is the plural that contains them. */
export interface ListData<P extends ListPath, K extends ListKey<P>> extends Omit<RemoteData, "fields"> {
  path: P;
  key: K;
  /** Printed when there are no records. */
  empty: string;
  columns: Columns<RecordOf<P, K>>;
}

/** Makes `kb <noun> list`, whose fields are the records'. */
export function listCommand<P extends Exclude<ListPath, `${string}{${string}`>, K extends ListKey<P>>({
  path,
  key,
  empty,
  columns,
  ...data
}: ListData<P, K>): Command {
  return remoteCommand({ ...data, fields: [fieldsOf("get", path, key)] }, async ({ api, output }) => {
    const records = await api.list(path, key);
    output.result({ [key]: records, nextCursor: null }, () => output.table(records, columns, empty));
  });
}
