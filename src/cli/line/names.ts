/** Names of commands as people type them: a command's own name, its aliases, and similar names. */
import type { Command, Noun } from "./command.ts";
import { usageFailure, type CliFailure } from "#cli/host/failure.ts";
import { nearest } from "./values.ts";

/** A command with its names. */
export interface Named {
  /** The name as typed after `kb`: "connectors sync". */
  name: string;
  /** Complete other names of the same command: "connectors create". */
  aliases?: readonly string[] | undefined;
}

/** A command with its names. */
export type NamedCommand = Command & Named;

/** Verbs that mean the same for every noun: a noun's verb in `ours` can also be typed as one of `typed`. */
const SAME_VERBS = [
  { ours: ["create", "add"], typed: ["create", "add", "new"] },
  { ours: ["remove", "revoke"], typed: ["remove", "delete", "rm"] },
  { ours: ["list"], typed: ["list", "ls"] },
];

/** Returns the commands of a noun with their names. A command's own name takes precedence over an alias. */
export function namedCommands(noun: string, loaded: Noun | Command): NamedCommand[] {
  if (!("verbs" in loaded)) return [{ ...loaded, name: noun }];
  const verbs = Object.keys(loaded.verbs);
  return Object.entries(loaded.verbs).map(([verb, each]) => {
    const same = SAME_VERBS.find(({ ours }) => ours.includes(verb))?.typed ?? [];
    const aliases = same.filter((typed) => !verbs.includes(typed)).map((typed) => `${noun} ${typed}`);
    return { ...each, name: `${noun} ${verb}`, ...(aliases.length > 0 && { aliases }) };
  });
}

/** Finds the command with this name, else the one with this alias. */
export function findNamed<N extends Named>(name: string, commands: readonly N[]): N | undefined {
  return commands.find((each) => each.name === name) ?? commands.find((each) => each.aliases?.includes(name));
}

/** The failure when the noun doesn't exist; suggests what may have been meant. */
export function unknownCommand(argv: readonly string[], all: readonly Named[]): CliFailure {
  return unknown(argv[0] ?? "", suggestCommands(argv, all), "kb help");
}

/** The failure when the noun has no such verb; suggests what may have been meant. */
export function unknownVerb(noun: string, verb: string, commands: readonly Named[]): CliFailure {
  return unknown(`${noun} ${verb}`, suggestVerbs(noun, verb, commands), `kb ${noun} --help`);
}

/** Names from other programs that people type instead of our commands. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  agents: ["mcp", "grants list"],
  clients: ["grants list"],
  config: ["connectors scope", "workspace update"],
  delete: ["connectors remove"],
  find: ["search"],
  folders: ["roots list"],
  get: ["files get"],
  import: ["push"],
  index: ["quickstart", "connectors add"],
  info: ["whoami", "workspace show"],
  init: ["quickstart"],
  invite: ["invitations add"],
  keys: ["tokens list"],
  list: ["files list", "connectors list"],
  logs: ["audit list"],
  ls: ["files list", "connectors list"],
  me: ["whoami"],
  new: ["connectors add"],
  password: ["profile password"],
  people: ["entities search", "members list"],
  ps: ["connectors progress"],
  query: ["search"],
  rm: ["connectors remove"],
  run: ["serve"],
  server: ["serve"],
  show: ["files get", "connectors show"],
  signin: ["login"],
  signout: ["logout"],
  start: ["quickstart", "serve"],
  status: ["auth status", "connectors progress"],
  sync: ["connectors sync"],
  team: ["members list", "groups list"],
  up: ["quickstart", "serve"],
  upload: ["push"],
  users: ["members list"],
  web: ["open"],
};

/** Verbs from other programs, with our verbs; the first one that the noun has is suggested. */
const OTHER_VERBS: Readonly<Record<string, readonly string[]>> = {
  cat: ["get"],
  change: ["update"],
  connect: ["add"],
  describe: ["show"],
  disable: ["pause"],
  download: ["get"],
  edit: ["update"],
  enable: ["resume"],
  find: ["search"],
  get: ["show"],
  info: ["show"],
  invite: ["add"],
  kick: ["remove"],
  log: ["list", "progress"],
  logs: ["list", "progress"],
  reindex: ["sync"],
  rename: ["update"],
  revoke: ["remove"],
  run: ["sync"],
  set: ["update"],
  start: ["resume", "sync"],
  status: ["progress", "show"],
  stop: ["pause", "cancel"],
  switch: ["use"],
  unpause: ["resume"],
  view: ["show", "get"],
  withdraw: ["remove"],
};

const MAX_SUGGESTIONS = 3;

function suggestCommands([first = "", second]: readonly string[], commands: readonly Named[]): string[] {
  const word = first.toLowerCase();
  const others = (Object.hasOwn(OTHER_WORDS, word) && OTHER_WORDS[word]) || [];
  if (others.length > 0) return others.filter((name) => findNamed(name, commands) !== undefined);
  const near = nearest(word, [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))]);
  if (near !== undefined) {
    const whole = second === undefined ? undefined : findNamed(`${near} ${second}`, commands);
    return [whole?.name ?? near];
  }
  const asVerb = commands.filter(({ name }) => name.split(" ")[1] === word).map(({ name }) => name);
  return asVerb.length <= MAX_SUGGESTIONS ? asVerb : [];
}

function suggestVerbs(noun: string, typed: string, commands: readonly Named[]): string[] {
  const verb = typed.toLowerCase();
  const names = commands
    .filter(({ name }) => name.startsWith(`${noun} `))
    .flatMap((each) => [each.name, ...(each.aliases ?? [])]);
  const verbs = names.map((name) => name.split(" ")[1] ?? "");
  const others = (Object.hasOwn(OTHER_VERBS, verb) && OTHER_VERBS[verb]) || [];
  const other = others.find((item) => verbs.includes(item));
  const meant = other ?? nearest(verb, verbs);
  return meant === undefined ? [] : [`${noun} ${meant}`];
}

function unknown(name: string, suggestions: readonly string[], help: string): CliFailure {
  const meant = suggestions.map((each) => `kb ${each}`).join(" or ");
  return usageFailure(`There is no command "kb ${name}".${meant === "" ? "" : ` Did you mean ${meant}?`}`, help);
}
