/** A command: its handler, and its data, from which help, completion, the reference and the types of its input are derived. */
import type { DataOf, PathOf } from "#api/client.ts";
import type { Method } from "#api/paths.ts";
import type { Deps } from "#cli/host/deps.ts";

/** The description of an argument or an option: its summary, or an object with more. */
export type About = string | { summary: string; choices?: readonly string[]; repeatable?: boolean };

/** The arguments by their form in help: `<name>` is required, `[name]` is optional, `[name...]` takes all words that follow. */
export type ArgumentsData = Readonly<Record<string, About>>;

/** The options by their flags, in commander's form: `--name <value>`, `-o, --output <file>`, `--wait`. */
export type OptionsData = Readonly<Record<string, About>>;

/** Makes an argument or option that accepts only these words. They have the contract's type, and the compiler checks them where the value is used. */
export function oneOf<const C extends readonly string[]>(choices: C, summary: string): { summary: string; choices: C } {
  return { summary, choices };
}

/** Makes an option that can be repeated; its values form a list. */
export function several(summary: string): { summary: string; repeatable: true } {
  return { summary, repeatable: true };
}

export interface CommandData {
  summary: string;
  /** Details beyond the summary, for help and the reference. */
  details?: string;
  /** Complete other names of the command, such as "bridge". Help shows only its own name. */
  aliases?: readonly string[];
  arguments?: ArgumentsData;
  options?: OptionsData;
  /** Complete command lines; the help text contains the first one. */
  examples: readonly [string, ...string[]];
  /** Exit codes of this command in addition to 0, 1 and 2. */
  exitCodes?: readonly number[];
  /** The fields that `--json` can print. Without them the command has no `--json`. */
  fields?: readonly (Route | string)[];
  /** Whether it calls a server, and so has --url and --profile. */
  isRemote?: boolean;
}

/** A call of the contract whose answer `--json` prints: the answer's own fields, or those of the records under `key`. */
export interface Route<M extends Method = Method, P extends string = string> {
  method: M;
  path: P;
  key: string | undefined;
}

/** Options of every command. */
export interface CommonOptions {
  /** The names of the requested fields, or "" for all; undefined without `--json`. */
  json?: string;
  url?: string;
  profile?: string;
  /** False after `--no-input`. */
  input?: boolean;
  /** False after `--no-color`. */
  color?: boolean;
}

/** A parsed command line for any command. */
export interface Input {
  args: object;
  options: CommonOptions;
}

/** The input of a handler: the arguments and options of its command's data by name, with their types. */
export interface InputOf<D extends Pick<CommandData, "arguments" | "options">> extends Input {
  args: ArgumentsOf<D>;
  options: CommonOptions & OptionsOf<D extends { options: infer O extends OptionsData } ? O : {}>;
}

export interface Command extends CommandData {
  /** Runs the command. Returns the exit code, or nothing for 0. Throws CliFailure or ApiError. */
  run(input: Input, deps: Deps): Promise<number | void>;
}

/** A noun and its verbs, in the order in which help lists them. */
export interface Noun {
  summary: string;
  verbs: Readonly<Record<string, Command>>;
}

/** A command in the generated table, with its name, and its fields as names. */
export interface ListedCommand extends CommandData {
  /** The name as typed after `kb`: "connectors sync". */
  name: string;
  fields?: readonly string[];
}

/** Makes a command. The input of `run` has the types of the data. */
export function command<const D extends CommandData>(
  data: D,
  run: (input: InputOf<D>, deps: Deps) => Promise<number | void>,
): Command {
  return { ...data, run };
}

/** Makes a `Route` with the fields of a call's answer, or with `key` those of the records in it. */
export function route<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  key?: keyof DataOf<M, P> & string,
): Route<M, P> {
  return { method, path, key };
}

/** Checks the names of fields in the command's own output. */
export function ownFields<T>(...names: (keyof T & string)[]): readonly string[] {
  return names;
}

/** The values of options by name: `--date-field` is `dateField`. */
export type OptionsOf<O extends OptionsData> = {
  readonly [F in keyof O & string as Camel<LongName<F>>]: F extends `${string}<${string}`
    ? O[F] extends { repeatable: true }
      ? readonly WordOf<O[F]>[]
      : WordOf<O[F]> | undefined
    : boolean;
};

type WordOf<O> = O extends { choices: readonly (infer Word extends string)[] } ? Word : string;

type LongName<F extends string> = F extends `${string}--${infer Rest}`
  ? Rest extends `${infer Name} ${string}`
    ? Name
    : Rest
  : never;

type Camel<S extends string> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : S;

type ArgumentsOf<D> = D extends { arguments: infer A extends ArgumentsData }
  ? { readonly [T in keyof A & string as NameIn<T>]: ArgumentValue<T, WordOf<A[T]>> }
  : {};

type NameIn<T> = T extends `${"<" | "["}${infer Name}${"...]" | "...>"}`
  ? Name
  : T extends `${"<" | "["}${infer Name}${"]" | ">"}`
    ? Name
    : never;

type ArgumentValue<T, Word> = T extends `${string}...${string}`
  ? readonly Word[]
  : T extends `<${string}`
    ? Word
    : Word | undefined;
