/** Parses a command line into a command and its input, according to the data of the command. */
import { Argument, Command as Parser, CommanderError, InvalidArgumentError, Option } from "commander";
import { VERSION } from "#api/version.ts";
import type { Input, Noun } from "#cli/line/command.ts";
import { EXIT_CODES } from "#cli/host/exit-codes.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { findNamed, namedCommands, unknownCommand, unknownVerb, type NamedCommand } from "#cli/line/names.ts";
import { findNoun } from "./nouns.ts";
import { alwaysOptions, argumentsOf, optionsOf, type Listed } from "#cli/line/options.ts";
import { didYouMean } from "#cli/line/values.ts";

/** The result of parsing: a command with its input, or a text that is the whole answer. */
export type Parsed = { command: NamedCommand; input: Input } | { text: string };

/**
 * Parses the words after `kb`. Loads the file of the typed noun, and the table of all commands only for help, fields and mistakes.
 *
 * @throws CliFailure (usage) with a "did you mean" when a similar word exists
 */
export async function parseArgv(typedArgv: readonly string[], columns: number): Promise<Parsed> {
  const [first, second] = typedArgv;
  if (VERSION_WORDS.includes(first ?? "") && typedArgv.length === 1) return { text: `${VERSION}\n` };
  if (first === "help") {
    const topic = typedArgv.slice(1).filter((part) => !part.startsWith("-"));
    return topic[0] === "exit-codes" ? { text: exitCodesHelp() } : await parseArgv([...topic, "--help"], columns);
  }
  if (first === undefined || first.startsWith("-")) return await parseProgram(typedArgv, columns);
  const noun = findNoun(first);
  if (noun === undefined) throw unknownCommand(typedArgv, (await loadTable()).COMMANDS);
  const { name } = noun;
  const loaded = await noun.load();
  const commands = namedCommands(name, loaded);
  if (!("verbs" in loaded)) return await parseCommand({ ...loaded, name }, typedArgv.slice(1), columns);
  if (second === undefined || second.startsWith("-") || second === "help") {
    return parseNoun(name, loaded, commands, second === "help" ? ["--help"] : typedArgv.slice(1), columns);
  }
  const command = findNamed(`${name} ${second}`, commands);
  if (command === undefined) throw unknownVerb(name, second, commands);
  return await parseCommand(command, typedArgv.slice(2), columns);
}

/** Makes the text of `kb help exit-codes`. */
function exitCodesHelp(): string {
  const rows = EXIT_CODES.map(({ code, name, meaning }) => `${String(code).padStart(4)}  ${name.padEnd(22)}${meaning}`);
  return `Exit codes of kb\n\n${rows.join("\n")}\n`;
}

const VERSION_WORDS = ["version", "-v", "-V", "--version"];

const loadTable = () => import("#cli/generated/table.ts");

/** Handles `kb` alone or only with its own options: lists everything. */
async function parseProgram(argv: readonly string[], columns: number): Promise<Parsed> {
  const { SECTIONS } = await loadTable();
  const screen = makeScreen(columns);
  const program = makeParser("kb", screen)
    .description("Search your connected apps with your own permissions, run the server, and bridge it to agents.")
    .usage("<command> [options]")
    .option("-v, --version", "print the version");
  program.addHelpText("after", "\nMore: kb help <command>, kb help exit-codes");
  for (const { title, nouns } of SECTIONS) {
    for (const { name, summary } of nouns) program.command(name).summary(summary).helpGroup(`${title}:`);
  }
  read(program, [], argv);
  return { text: screen.text() };
}

/** Handles a noun without a verb: lists its verbs. */
function parseNoun(
  name: string,
  { summary }: Noun,
  verbs: readonly NamedCommand[],
  argv: readonly string[],
  columns: number,
): Parsed {
  const screen = makeScreen(columns);
  const program = makeParser("kb", screen);
  const noun = makeParser(name, screen).description(summary).usage("<command> [options]");
  program.addCommand(noun);
  for (const each of verbs) {
    const verb = noun.command(each.name.slice(name.length + 1)).summary(each.summary);
    for (const { term, summary } of argumentsOf(each)) verb.argument(term, summary);
  }
  read(program, [name], argv);
  return { text: screen.text() };
}

async function parseCommand(command: NamedCommand, argv: readonly string[], columns: number): Promise<Parsed> {
  const words = command.name.split(" ");
  const screen = makeScreen(columns);
  const program = makeParser("kb", screen);
  let parser = program;
  for (const word of words) {
    const next = makeParser(word, screen);
    parser.addCommand(next);
    parser = next;
  }
  const also = command.aliases?.map((alias) => `kb ${alias}`).join(", ");
  parser.description(
    [command.summary, command.details, also && `Also: ${also}.`].filter((part) => part !== undefined).join("\n\n"),
  );
  for (const item of argumentsOf(command)) parser.addArgument(makeArgument(item));
  const options = [...optionsOf(command), ...alwaysOptions()];
  for (const option of options) parser.addOption(makeOption(option));
  parser.addHelpText("after", () => `\nExample:\n  ${command.examples[0]}`);
  let input: Input | undefined;
  parser.action((...values: unknown[]) => {
    // commander passes the arguments, then the options, then itself.
    const args = Object.fromEntries(parser.registeredArguments.map((each, at) => [each.name(), values[at]]));
    input = { args, options: withAbsent(parser.opts(), options) };
  });
  read(program, words, argv);
  if (input === undefined) return { text: screen.text() };
  await checkFields(command, input.options.json);
  return { command, input };
}

/** Where a parser writes its help. */
type Screen = ReturnType<typeof makeScreen>;

function makeScreen(columns: number) {
  let text = "";
  return { columns, write: (part: string): void => void (text += part), text: (): string => text };
}

/**
 * Parses a command line; help ends the parsing without a failure.
 *
 * @throws CliFailure (usage)
 */
function read(program: Parser, words: readonly string[], argv: readonly string[]): void {
  try {
    program.parse([...words, ...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0 || error.code === "commander.help") return;
    throw usageFailure(sentence(error.message), `kb ${[...words, "--help"].join(" ")}`);
  }
}

function makeOption({ term, summary, choices, repeatable = false }: Listed): Option {
  const option = new Option(term, summary);
  if (choices !== undefined) option.choices(choices);
  if (repeatable) {
    option.argParser((value: string, previous: unknown) => {
      if (choices !== undefined && !choices.includes(value)) {
        throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
      }
      return [...(Array.isArray(previous) ? previous : []), value];
    });
  }
  return option;
}

/** Fills in absent options with the values that `InputOf` declares: flags are false, lists are empty. */
function withAbsent(typedArgv: Record<string, unknown>, options: readonly Listed[]): Input["options"] {
  const all = { ...typedArgv };
  for (const data of options) {
    const name = makeOption(data).attributeName();
    // commander parses a bare `--json` as true.
    if (name === "json" && all[name] === true) all[name] = "";
    if (name in all) continue;
    if (data.repeatable === true) all[name] = [];
    else if (!data.term.includes("<") && name !== "json") all[name] = false;
  }
  return all;
}

function makeParser(name: string, { columns, write }: Screen): Parser {
  return new Parser(name)
    .exitOverride()
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: write,
      writeErr: write,
      // The failure contains the text, which is printed in one place.
      outputError: () => undefined,
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      sortSubcommands: false,
      // Every command has options. Repeating that on each line would only shift the summaries.
      subcommandTerm: (item) => [item.name(), ...item.registeredArguments.map((each) => termOf(each))].join(" "),
    });
}

function makeArgument({ term, summary, choices }: Listed): Argument {
  const argument = new Argument(term, summary);
  if (choices !== undefined) argument.choices(choices);
  return argument;
}

function termOf(argument: Argument): string {
  const word = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${word}>` : `[${word}]`;
}

/** Checks the word after `--json`, which is always its list of fields. Otherwise a misspelt field could be taken for an argument. */
async function checkFields({ name, ...data }: NamedCommand, json: string | undefined): Promise<void> {
  if (json === undefined || json === "") return;
  const known = (await loadTable()).COMMANDS.find((each) => each.name === name)?.fields ?? [];
  const unknown = json.split(",").filter((field) => !known.includes(field.trim()));
  const [first] = unknown;
  if (first === undefined) return;
  const before =
    argumentsOf(data).length === 0 || json.includes(",")
      ? ""
      : `\nFor "${json}" as an argument, put it before --json: kb ${name} ${/\s/.test(json) ? JSON.stringify(json) : json} --json`;
  throw usageFailure(
    `--json knows no field ${unknown.map((field) => `"${field}"`).join(", ")}.${didYouMean(first.trim(), known)}`,
    `Fields: ${known.join(", ")}.${before}`,
  );
}

/** Rewrites "error: unknown option '--foo'\n(Did you mean --bar?)" as one sentence, with the options' long names. */
function sentence(message: string): string {
  const text = message
    .replace(/^error: /, "")
    .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument missing$/, "$1 needs a value")
    .replace(
      /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^]*)' is invalid\. Allowed choices are ([^]*)\.$/,
      '$1 "$2" is not one of: $3',
    )
    .replace(
      /^command-argument value '([^]*)' is invalid for argument '(\w+)'\. Allowed choices are ([^]*)\.$/,
      'The $2 "$1" is not one of: $3',
    )
    .replace(/\n\(/, ". (");
  const whole = /[.)?]$/.test(text) ? text : `${text}.`;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}
