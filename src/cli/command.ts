/** A command: its data, from which help, completion, the reference and the types of its input are made, and its handler. */
import type { DataOf, PathOf } from "#api/client.ts";
import type { Method } from "#api/paths.ts";
import type { Deps } from "./deps.ts";

export interface ArgumentData {
  name: string;
  summary: string;
  required?: boolean;
  variadic?: boolean;
  /** The words that it takes. */
  choices?: readonly string[];
}

export interface OptionData {
  /** commander's form: `--name <value>`, `-o, --output <file>`, `--wait`. */
  flags: string;
  summary: string;
  /** The words that it takes. Those of the contract's type: the compiler compares them where the value is used. */
  choices?: readonly string[];
  /** May be given several times; the values come as a list. */
  repeatable?: boolean;
}

export interface CommandData {
  summary: string;
  /** More than the summary says, for help and the reference. */
  details?: string;
  /** Other names of the same command, whole: "bridge". Help shows its own. */
  aliases?: readonly string[];
  arguments?: readonly ArgumentData[];
  options?: readonly OptionData[];
  /** Whole command lines; the first one is in the help text. */
  examples: readonly [string, ...string[]];
  /** Exit codes that this command has beyond 0, 1, 2. */
  exitCodes?: readonly number[];
  /** What `--json fields` may choose; without it the command has no `--json`. */
  fields?: readonly (FieldSource | string)[];
  /** Talks to a server: takes --url and --profile. */
  isRemote?: boolean;
}

/** Fields of an answer of the contract: its own, or those of the records under `key`. The generator lists them. */
export interface FieldSource {
  method: Method;
  path: string;
  key: string | undefined;
}

/** What every command has, whatever its own options are. */
export interface CommonOptions {
  /** The names of fields, or "" for all; undefined without `--json`. */
  json?: string;
  url?: string;
  profile?: string;
  /** False after `--no-input`. */
  input?: boolean;
  /** False after `--no-color`. */
  color?: boolean;
}

/** A command line that was read, as any command takes it. */
export interface Input {
  args: object;
  options: CommonOptions;
}

/** What a handler gets: the arguments and options of its command's data by their names, in the types that they have. */
export interface InputOf<D extends CommandData> extends Input {
  args: ArgumentsOf<D>;
  options: CommonOptions & OptionsOf<D extends { options: infer O extends readonly OptionData[] } ? O : readonly []>;
}

export interface Command extends CommandData {
  /** Gives the exit code, 0 when nothing is returned. Throws CliFailure or ApiError. */
  run(input: Input, deps: Deps): Promise<number | void>;
}

/** A noun with its verbs, in the order of its help. */
export interface Noun {
  summary: string;
  verbs: Readonly<Record<string, Command>>;
}

/** A command as the generated table lists it: with its name, and its fields by theirs. */
export interface ListedCommand extends CommandData {
  /** As typed after `kb`: "connectors sync". */
  name: string;
  fields?: readonly string[];
}

/** Makes a command. The types of what `run` gets are those of the data. */
export function command<const D extends CommandData>(
  data: D,
  run: (input: InputOf<D>, deps: Deps) => Promise<number | void>,
): Command {
  return { ...data, run };
}

/** The fields of an answer, or with `key` those of the records that it holds there. */
export function fieldsOf<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  key?: keyof DataOf<M, P> & string,
): FieldSource {
  return { method, path, key };
}

/** Fields of what the command prints itself. */
export function ownFields<T>(...names: (keyof T & string)[]): readonly string[] {
  return names;
}

/** The values of options, by their names: `--date-field` is `dateField`. */
export type OptionsOf<O extends readonly OptionData[]> = {
  readonly [Each in O[number] as Camel<LongName<Each["flags"]>>]: ValueOf<Each>;
};

type ValueOf<O extends OptionData> = O["flags"] extends `${string}<${string}`
  ? O extends { repeatable: true }
    ? readonly WordOf<O>[]
    : WordOf<O> | undefined
  : boolean;

type WordOf<O> = O extends { choices: readonly (infer Word extends string)[] } ? Word : string;

type LongName<F extends string> = F extends `${string}--${infer Rest}`
  ? Rest extends `${infer Name} ${string}`
    ? Name
    : Rest
  : never;

type Camel<S extends string> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : S;

type ArgumentsOf<D> = D extends { arguments: infer A extends readonly ArgumentData[] }
  ? { readonly [Each in A[number] as Each["name"]]: ArgumentValue<Each> }
  : {};

type ArgumentValue<A> = A extends { variadic: true }
  ? readonly WordOf<A>[]
  : A extends { required: true }
    ? WordOf<A>
    : WordOf<A> | undefined;
