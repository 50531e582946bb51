/** A command is data; its handler is loaded when it runs. */
import type { Deps } from "./deps.ts";

export interface ArgumentSpec {
  name: string;
  summary: string;
  required?: boolean;
  variadic?: boolean;
}

export interface OptionSpec {
  /** commander's form: `--name <value>`, `-o, --output <file>`, `--wait`. */
  flags: string;
  summary: string;
  choices?: readonly string[];
  /** May be given several times; the values come as a list. */
  repeatable?: boolean;
}

export interface CommandSpec {
  /** As typed after `kb`: "connectors sync". */
  name: string;
  summary: string;
  /** More than the summary says, for help and the reference. */
  details?: string;
  /** Other names of the same command, whole: "connectors create". Help shows `name`. */
  aliases?: readonly string[];
  arguments?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  /** Whole command lines; the first one is in the help text. */
  examples: readonly [string, ...string[]];
  /** Exit codes that this command has beyond 0, 1, 2. */
  exitCodes?: readonly number[];
  /** Names of the fields that `--json fields` may choose; without it the command has no `--json`. */
  fields?: readonly string[];
  /** Talks to a server: takes --url and --profile. */
  isRemote?: boolean;
  load(): Promise<Handler>;
}

export interface CommandInput {
  arguments: readonly (string | readonly string[] | undefined)[];
  options: Readonly<Record<string, unknown>>;
}

/** Runs a command; gives its exit code, 0 when nothing is returned. Throws CliFailure or ApiError. */
export type Handler = (input: CommandInput, deps: Deps) => Promise<number | void>;

/** The text of an option or undefined. */
export function textOption(input: CommandInput, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * The text of an option as one of the words that the contract has in its place. The parser takes only those of the
 * catalogue's `choices`; where it has none, the server says which there are.
 */
export function wordOption<Word extends string>(input: CommandInput, name: string): Word | undefined {
  return textOption(input, name) as Word | undefined;
}

/** The words of a repeatable option, as `wordOption` gives one; undefined when it was not given. */
export function wordsOption<Word extends string>(input: CommandInput, name: string): Word[] | undefined {
  const words = listOption(input, name);
  return words.length > 0 ? (words as Word[]) : undefined;
}

/** Whether a flag was given. */
export function flagOption(input: CommandInput, name: string): boolean {
  return input.options[name] === true;
}

/** The values of a repeatable option, in order. */
export function listOption(input: CommandInput, name: string): string[] {
  const value = input.options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The positional argument at `index`; the parser has made sure that a required one is there. */
export function argument(input: CommandInput, index: number): string {
  const value = input.arguments[index];
  return typeof value === "string" ? value : "";
}

/** The positional arguments of a variadic one. */
export function argumentList(input: CommandInput, index: number): readonly string[] {
  const value = input.arguments[index];
  return Array.isArray(value) ? value : typeof value === "string" ? [value] : [];
}
