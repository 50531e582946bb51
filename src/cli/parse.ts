/** Command line → command and input, by the catalogue. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { VERSION } from "#api/version.ts";
import type { CommandInput, CommandSpec, OptionSpec } from "./command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { usageFailure } from "./failure.ts";
import { nameIn, resolveNames } from "./names.ts";
import { nearest } from "./values.ts";

export interface Noun {
  name: string;
  summary: string;
}

/** What a command line asks for: a command with its input, or a text that is the whole answer. */
export type Parsed = { spec: CommandSpec; input: CommandInput } | { text: string };

export interface Catalogue {
  nouns: readonly Noun[];
  /** The order of `kb help`: headings, and the first words of commands below them. What is in none comes last. */
  sections?: readonly { title: string; names: readonly string[] }[];
  commands: readonly CommandSpec[];
}

/**
 * Reads what comes after `kb`.
 *
 * @throws CliFailure (usage) with a "did you mean" where one is near
 */
export async function parseArgv(given: readonly string[], catalogue: Catalogue, columns: number): Promise<Parsed> {
  if (VERSION_WORDS.includes(given[0] ?? "") && given.length === 1) return { text: `${VERSION}\n` };
  if (given[0] === "help") {
    const topic = given.slice(1).filter((part) => !part.startsWith("-"));
    if (topic[0] === "exit-codes") return { text: exitCodesHelp() };
    return await parseArgv([...resolveNames(topic, catalogue.commands), "--help"], catalogue, columns);
  }
  const argv = resolveNames(given, catalogue.commands);
  let found: Parsed | undefined;
  let text = "";
  const program = buildProgram(
    neededFor(argv, catalogue),
    columns,
    (parsed) => {
      found = parsed;
    },
    (part) => {
      text += part;
    },
  );
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0 || error.code === "commander.help") return { text };
    throw usageFailure(sentence(error.message), `kb ${[...nameIn(argv, catalogue.commands), "--help"].join(" ")}`);
  }
  if (found !== undefined && "spec" in found) checkFields(found.spec, found.input.options["json"]);
  return found ?? { text: program.helpInformation() };
}

/** The commands of the noun that is typed: to build all of them takes longer than everything else that parsing does. */
function neededFor([first = "-"]: readonly string[], catalogue: Catalogue): Catalogue {
  if (first.startsWith("-")) return catalogue;
  return { ...catalogue, commands: catalogue.commands.filter(({ name }) => name.split(" ")[0] === first) };
}

/** The help text of one command, for the reference. */
export function optionLines(spec: CommandSpec): readonly OptionSpec[] {
  return [
    ...(spec.options ?? []),
    ...(spec.fields === undefined ? [] : [JSON_OPTION]),
    ...(spec.isRemote === true ? remoteOptions(spec) : []),
  ];
}

/** `kb help exit-codes`. */
export function exitCodesHelp(): string {
  const rows = EXIT_CODES.map(({ code, name, meaning }) => `${String(code).padStart(4)}  ${name.padEnd(22)}${meaning}`);
  return `Exit codes of kb\n\n${rows.join("\n")}\n`;
}

const JSON_OPTION: OptionSpec = {
  flags: "--json [fields]",
  summary: "print the server's answer as JSON, or only these fields of it: the word after it, as in --json id,name",
};

const VERSION_WORDS = ["version", "-v", "-V", "--version"];

const REMOTE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--url <url>", summary: "the server (default: KB_URL, else the profile)" },
  { flags: "--profile <name>", summary: "a stored server (default: KB_PROFILE, else the last login)" },
];

const VERBOSE: OptionSpec = { flags: "--verbose", summary: "name the request with every failure" };

function remoteOptions(spec: CommandSpec): readonly OptionSpec[] {
  const hasOwn = spec.options?.some(({ flags }) => flags === VERBOSE.flags) ?? false;
  return hasOwn ? REMOTE_OPTIONS : [...REMOTE_OPTIONS, VERBOSE];
}

const ALWAYS_OPTIONS: readonly OptionSpec[] = [
  { flags: "--no-input", summary: "never ask" },
  { flags: "--no-color", summary: "no colour" },
];

type Found = (parsed: Parsed) => void;

function buildProgram(catalogue: Catalogue, columns: number, found: Found, write: (text: string) => void): Command {
  const program = configured(new Command("kb"), columns, write)
    .description("Search your connected apps with your own permissions, run the server, and bridge it to agents.")
    .usage("<command> [options]")
    .option("-v, --version", "print the version");
  program.addHelpText("after", "\nMore: kb help <command>, kb help exit-codes");
  const nouns = new Map<string, Command>();
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  for (const spec of inSections(catalogue)) {
    const [first = "", second] = spec.name.split(" ");
    if (second === undefined) {
      addCommand(program, first, spec, columns, found, write);
      program.commands.at(-1)?.helpGroup(headingOf(first, catalogue));
      continue;
    }
    const noun = nouns.get(first) ?? addNoun(program, first, catalogue, columns, write);
    nouns.set(first, noun);
    addCommand(noun, second, spec, columns, found, write);
  }
  return program;
}

/** The commands in the order of the sections, and within one as its names stand. */
function inSections(catalogue: Catalogue): CommandSpec[] {
  const order = (catalogue.sections ?? []).flatMap(({ names }) => names);
  const rank = ({ name }: CommandSpec): number => {
    const at = order.indexOf(name.split(" ")[0] ?? "");
    return at === -1 ? order.length : at;
  };
  return catalogue.commands.toSorted((a, b) => rank(a) - rank(b));
}

function headingOf(name: string, catalogue: Catalogue): string {
  return `${catalogue.sections?.find(({ names }) => names.includes(name))?.title ?? "Other"}:`;
}

function addNoun(
  program: Command,
  name: string,
  catalogue: Catalogue,
  columns: number,
  write: (text: string) => void,
): Command {
  const summary = catalogue.nouns.find((noun) => noun.name === name)?.summary ?? "";
  const noun = configured(program.command(name), columns, write).description(summary).usage("<command> [options]");
  noun.helpGroup(headingOf(name, catalogue));
  // A noun alone: its list of verbs is what the person needs.
  return noun;
}

function addCommand(
  parent: Command,
  name: string,
  spec: CommandSpec,
  columns: number,
  found: Found,
  write: (text: string) => void,
): void {
  const command = configured(parent.command(name), columns, write).summary(spec.summary);
  const also = spec.aliases?.map((alias) => `kb ${alias}`).join(", ");
  command.description(
    [spec.summary, spec.details, also && `Also: ${also}.`].filter((part) => part !== undefined).join("\n\n"),
  );
  for (const item of spec.arguments ?? []) {
    const word = item.variadic === true ? `${item.name}...` : item.name;
    command.argument(item.required === true ? `<${word}>` : `[${word}]`, item.summary);
  }
  for (const option of [...optionLines(spec), ...ALWAYS_OPTIONS]) command.addOption(makeOption(option));
  command.addHelpText("after", () => `\nExample:\n  ${spec.examples[0]}`);
  command.action((...values: unknown[]) => {
    // commander passes the arguments, then the options, then itself.
    const options = { ...command.opts<Record<string, unknown>>() };
    // Bare `--json` is true to commander.
    if (options["json"] === true) options["json"] = "";
    found({ spec, input: { arguments: values.slice(0, -2).map(asArgument), options } });
  });
}

function asArgument(value: unknown): string | readonly string[] | undefined {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "string" ? value : undefined;
}

function makeOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.summary);
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.repeatable === true) {
    const { choices } = spec;
    option.argParser((value: string, previous: unknown) => {
      if (choices !== undefined && !choices.includes(value)) {
        throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
      }
      return [...(Array.isArray(previous) ? previous : []), value];
    });
  }
  return option;
}

function configured(command: Command, columns: number, write: (text: string) => void): Command {
  return command
    .exitOverride()
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: write,
      writeErr: write,
      // The failure carries the text; it is printed in one place.
      outputError: () => undefined,
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      sortSubcommands: false,
      // Every command takes options: to say so on each line would only push the summaries aside.
      subcommandTerm: (item) =>
        [item.name(), ...item.registeredArguments.map((each) => argumentTerm(each.name(), each))].join(" "),
    });
}

function argumentTerm(name: string, { required, variadic }: { required: boolean; variadic: boolean }): string {
  const word = variadic ? `${name}...` : name;
  return required ? `<${word}>` : `[${word}]`;
}

/** The word after `--json` is always its list of fields: were it an argument at times, a misspelt field would be one too. */
function checkFields(spec: CommandSpec, json: unknown): void {
  if (typeof json !== "string" || json === "") return;
  const known = spec.fields ?? [];
  const unknown = json.split(",").filter((name) => !known.includes(name.trim()));
  const [first] = unknown;
  if (first === undefined) return;
  const near = nearest(first.trim(), known);
  const before =
    (spec.arguments ?? []).length === 0 || json.includes(",")
      ? ""
      : `\nFor "${json}" as an argument put it before: kb ${spec.name} ${/\s/.test(json) ? JSON.stringify(json) : json} --json`;
  throw usageFailure(
    `--json knows no field ${unknown.map((name) => `"${name}"`).join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    `Fields: ${known.join(", ")}.${before}`,
  );
}

/** "error: unknown option '--foo'\n(Did you mean --bar?)" as a sentence of ours, options by their long names. */
function sentence(message: string): string {
  const text = message
    .replace(/^error: /, "")
    .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument missing$/, "$1 needs a value")
    .replace(
      /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^]*)' is invalid\. Allowed choices are ([^]*)\.$/,
      '$1 "$2" is not one of: $3',
    )
    .replace(/\n\(/, ". (");
  const whole = /[.)?]$/.test(text) ? text : `${text}.`;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}
