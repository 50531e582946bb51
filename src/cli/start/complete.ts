/** Completes an unfinished command line from the table of all commands, without loading a noun. */
import type { ListedCommand } from "#cli/line/command.ts";
import { COMMANDS, SECTIONS } from "#cli/generated/table.ts";
import { findNamed } from "#cli/line/names.ts";
import { alwaysOptions, argumentsOf, optionsOf, type Listed } from "#cli/line/options.ts";

export interface Completion {
  word: string;
  summary: string;
}

/**
 * Returns completions of the last of `words`, the words after `kb`; the last word may be empty. Returns none where a file, a number or a text is
 * expected: the shell then offers files.
 */
export function complete(words: readonly string[]): Completion[] {
  const last = words.at(-1) ?? "";
  return candidates(words.slice(0, -1), last).filter(({ word }) => word.startsWith(last));
}

const HELP: Completion = { word: "--help", summary: "display help for command" };

function candidates([noun, ...rest]: readonly string[], last: string): Completion[] {
  if (noun === undefined) return last.startsWith("-") ? [HELP] : nouns();
  if (noun === "help") return rest.length === 0 ? nouns() : verbsOf(rest[0] ?? "");
  const single = findNamed(noun, COMMANDS);
  if (single !== undefined) return following(single, rest, last);
  const [verb, ...more] = rest;
  if (verb === undefined) return last.startsWith("-") ? [HELP] : verbsOf(noun);
  const command = findNamed(`${noun} ${verb}`, COMMANDS);
  return command === undefined ? [] : following(command, more, last);
}

function nouns(): Completion[] {
  return SECTIONS.flatMap((section) => section.nouns.map(({ name, summary }) => ({ word: name, summary })));
}

function verbsOf(noun: string): Completion[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${noun} `)).map(({ name, summary }) => ({
    word: name.slice(noun.length + 1),
    summary,
  }));
}

/** Completes the words after a command: the value of the previous option, or an option. */
function following(command: ListedCommand, given: readonly string[], last: string): Completion[] {
  const options = [...optionsOf(command), ...alwaysOptions()];
  if (given.includes("--")) return [];
  const before = options.find((option) => wordsOf(option).includes(given.at(-1) ?? ""));
  if (before?.term.startsWith("--json ")) return fieldsAfter(command, last);
  if (before?.term.includes("<")) return choicesOf(before);
  if (!last.startsWith("-")) return choicesOf(argumentsOf(command)[countArguments(given, options)]);
  const isFree = (option: Listed): boolean =>
    option.repeatable === true || !wordsOf(option).some((word) => given.includes(word));
  return [...options.filter(isFree).map((option) => ({ word: longNameOf(option), summary: option.summary })), HELP];
}

function choicesOf({ choices = [] }: Pick<Listed, "choices"> = {}): Completion[] {
  return choices.map((word) => ({ word, summary: "" }));
}

/** Counts the words that are arguments: neither options nor the values of options. */
function countArguments(given: readonly string[], options: readonly Listed[]): number {
  const takesValue = (word: string | undefined): boolean =>
    word !== undefined && options.some((option) => option.term.includes("<") && wordsOf(option).includes(word));
  return given.filter((word, at) => !word.startsWith("-") && !takesValue(given[at - 1])).length;
}

/** Returns the fields that can follow in a list such as `id,na`. */
function fieldsAfter({ fields = [] }: ListedCommand, last: string): Completion[] {
  const chosen = last.split(",").slice(0, -1);
  const start = chosen.map((field) => `${field},`).join("");
  return fields.filter((field) => !chosen.includes(field)).map((field) => ({ word: start + field, summary: "" }));
}

/** Splits `-o, --output <file>` into -o and --output. */
function wordsOf({ term }: Listed): string[] {
  return term.match(/--?[\w-]+/g)?.slice(0, 2) ?? [];
}

function longNameOf({ term }: Listed): string {
  return /--[\w-]+/.exec(term)?.[0] ?? term;
}
