/** Commands that call a server as the signed-in person, which most commands do. A command that only lists, calls or removes is described by data. */
import type { DataOf, InitOf, ListKey, ListPath, Optional, PathOf, QueryOf, RecordOf } from "#api/client.ts";
import type { Method } from "#api/paths.ts";
import { connect, type Api, type CallOptions } from "./api.ts";
import { route, type Command, type CommandData, type Input, type InputOf, type Route } from "#cli/line/command.ts";
import { type Deps, confirmed } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { YES } from "#cli/line/options.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import type { Columns } from "#cli/terminal/table.ts";

/** A thing that an argument names: how to find it, and its values in a path. */
export interface Thing<Found = unknown, At extends object = object> {
  /** The argument's name. */
  name: string;
  summary: string;
  find(api: Api, word: string): Promise<Found>;
  at(found: Found): At;
}

export interface ById {
  id: string;
}

export const idOf = ({ id }: ById): ById => ({ id });

/** Makes a thing that is identified only by its id. */
export function onlyById(summary: string, name = "id"): Thing<ById, ById> {
  return { name, summary, find: async (_api, id) => ({ id }), at: idOf };
}

/** The data of a remote command, without what all remote commands have in common: they call a server, and have the exit codes for that. */
export interface RemoteData extends Omit<CommandData, "isRemote"> {
  /** The thing that the first argument names. The handler receives it as `found`. */
  of?: Thing | undefined;
  /** The call that the handler makes with `send`, and whose answer `--json` prints. */
  call?: Route;
}

interface Base {
  api: Api;
  output: Output;
  deps: Deps;
}

/** The input of a handler: the parsed words, and the parts that follow from the data. */
export type Remote<D extends RemoteData> = Base & InputOf<D> & { found: FoundOf<D>; send: SendOf<D> };

type FoundOf<D> = D extends { of: { find(api: Api, word: string): Promise<infer Found> } } ? Found : undefined;

type AtOf<D> = D extends { of: { at(found: never): infer At } } ? At : {};

type SendOf<D> = D extends { call: Route<infer M, infer P> }
  ? P extends PathOf<M>
    ? Send<M, P, AtOf<D>>
    : never
  : undefined;

/** A call whose path gets its values from `found`. A path that needs other values gets them from `at`. */
type Send<M extends Method, P extends PathOf<M>, At> = (
  ...init: Optional<
    SentOf<M, P> & { query?: QueryOf<M, P> } & (At extends ValuesOf<M, P> ? {} : { at: ValuesOf<M, P> }) & CallOptions
  >
) => Promise<DataOf<M, P>>;

type SentOf<M extends Method, P extends PathOf<M>> = Omit<InitOf<M, P>, "params">;

/** The values for the braces in a path. */
type ValuesOf<M extends Method, P extends PathOf<M>> =
  InitOf<M, P> extends { params: { path: infer Values extends object } } ? Values : {};

/**
 * Makes a command whose handler starts with a connection. A command that checks its arguments before it requires a sign-in is a `command`, and
 * connects itself.
 */
export function remoteCommand<const D extends RemoteData>(
  data: D,
  run: (remote: Remote<D>) => Promise<number | void>,
): Command {
  return connected<InputOf<D>>(data, run);
}

const EXIT_CODES = [EXIT.notSignedIn, EXIT.unreachable];

/** The types of `found` and `send` follow from the data. */
function connected<I extends Input>(
  { of, call, ...data }: RemoteData,
  work: (remote: Base & I & { found: never; send: never }) => Promise<number | void>,
): Command {
  const run = async (input: I, deps: Deps): Promise<number | void> => {
    const api = await connect(input, deps);
    const output = makeOutput(input, deps, api.settings.defaults);
    const found = of && (await of.find(api, Reflect.get(input.args, of.name)));
    const send = async ({ at, query, ...init }: { at?: object; query?: object } = {}) =>
      call &&
      (await api.call(call.method, call.path, { ...init, params: { path: { ...of?.at(found), ...at }, query } }));
    return await work({ ...input, api, output, deps, ...({ found, send } as { found: never; send: never }) });
  };
  return {
    ...data,
    ...(of && { arguments: { [`<${of.name}>`]: of.summary, ...data.arguments } }),
    exitCodes: [...(data.exitCodes ?? []), ...(of ? [EXIT.notFound] : []), ...EXIT_CODES].sort((a, b) => a - b),
    ...(call && { fields: data.fields ?? [call] }),
    isRemote: true,
    run,
  };
}

/** The data of commands that have no options of their own. */
type Plain = Pick<RemoteData, "summary" | "details" | "examples" | "exitCodes">;

export interface ListData<T> extends Plain {
  /** Printed when there are no records. */
  empty: string;
  columns: Columns<T>;
}

/** Makes `kb <noun> list`: it prints every record of a route. `key` is the plural that contains them. */
export function listCommand<P extends Exclude<ListPath, `${string}{${string}`>, K extends ListKey<P>>(
  path: P,
  key: K,
  { empty, columns, ...data }: ListData<RecordOf<P, K>>,
): Command {
  return remoteCommand({ ...data, fields: [route("get", path, key)] }, async ({ api, output }) =>
    output.list(key, await api.list(path, key), columns, empty),
  );
}

export interface CallData<M extends Method, P extends PathOf<M>, Found> extends Plain {
  of?: Thing<Found>;
  /** The record in the answer whose fields `--json` lists. */
  key?: keyof DataOf<M, P> & string;
}

/** Excludes a call with a body. A path with braces requires a thing with their values. */
type Placed<M extends Method, P extends PathOf<M>> =
  {} extends SentOf<M, P> ? ({} extends ValuesOf<M, P> ? {} : { of: Thing<unknown, ValuesOf<M, P>> }) : never;

/** Makes a command that is one call. `print` prints the answer for people, or returns a message for stderr. */
export function callCommand<M extends Method, P extends PathOf<M>, Found = undefined>(
  method: M,
  path: P,
  all: CallData<M, P, Found> & Placed<M, P>,
  print: (answer: DataOf<M, P>, remote: Base & { found: Found }) => string | void,
): Command {
  const { key, ...data }: CallData<M, P, Found> = all;
  return connected({ ...data, call: route(method, path, key) }, async (remote) => {
    const send: () => Promise<DataOf<M, P>> = remote.send;
    remote.output.result(await send(), (answer) => print(answer, remote));
  });
}

export interface RemoveData<P extends PathOf<"delete">, Found> extends Plain {
  of: Thing<Found, ValuesOf<"delete", P>>;
  /** The question that the command asks first. Without one, the command doesn't ask and has no `--yes`. */
  question?: (found: Found) => string;
  /** The message after the removal. */
  done: (found: Found) => string;
}

/** Makes `kb <noun> remove`, and other commands that end something. */
export function removeCommand<P extends PathOf<"delete">, Found>(
  path: P,
  { question, done, ...data }: RemoveData<P, Found>,
): Command {
  const options = question && { options: YES };
  return connected<InputOf<{ options: typeof YES }>>(
    { ...data, ...options },
    async ({ api, output, options, deps, found }) => {
      if (question) await confirmed(options, deps, question(found));
      await api.call("delete", path, { params: { path: data.of.at(found) } });
      output.talk(done(found));
    },
  );
}
