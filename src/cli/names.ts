/** Names of commands as people type them: the catalogue's own, other words for the same, and near ones. */
import type { CommandSpec } from "./command.ts";
import { usageFailure, type CliFailure } from "./failure.ts";
import { nearest } from "./values.ts";

/** Verbs that mean the same with every noun: what a noun calls one of `ours` answers to each of `typed`. */
const SAME_VERBS = [
  { ours: ["create", "add"], typed: ["create", "add", "new"] },
  { ours: ["remove", "revoke"], typed: ["remove", "delete", "rm"] },
  { ours: ["list"], typed: ["list", "ls"] },
];

/** The commands with the names of `SAME_VERBS` as aliases; a name that a command has of its own stays its own. */
export function withVerbAliases(commands: readonly CommandSpec[]): CommandSpec[] {
  const names = new Set(commands.map(({ name }) => name));
  return commands.map((spec) => {
    const [noun, verb] = spec.name.split(" ");
    const same = SAME_VERBS.find(({ ours }) => verb !== undefined && ours.includes(verb));
    const aliases = (same?.typed ?? []).map((typed) => `${noun} ${typed}`).filter((name) => !names.has(name));
    return aliases.length === 0 ? spec : { ...spec, aliases: [...(spec.aliases ?? []), ...aliases] };
  });
}

/**
 * The words of a command line with its command under its own name. A noun alone stays as it is, and so does a line that
 * begins with an option.
 *
 * @throws CliFailure (usage) with what may have been meant when there is no such command
 */
export function resolveNames(argv: readonly string[], commands: readonly CommandSpec[]): string[] {
  const [first, second] = argv;
  if (first === undefined || first.startsWith("-")) return [...argv];
  const single = find(first, commands);
  if (single !== undefined) return [single.name, ...argv.slice(1)];
  if (!isNoun(first, commands)) throw unknown(first, suggestCommands(argv, commands), "kb help");
  if (second === undefined || second.startsWith("-")) return [...argv];
  if (second === "help") return [first, "--help"];
  const spec = find(`${first} ${second}`, commands);
  if (spec !== undefined) return [...spec.name.split(" "), ...argv.slice(2)];
  throw unknown(`${first} ${second}`, suggestVerbs(first, second, commands), `kb ${first} --help`);
}

/** The words at the start of a resolved command line that name its command or noun. */
export function nameIn(argv: readonly string[], commands: readonly CommandSpec[]): string[] {
  const [first = "", second = ""] = argv;
  if (find(`${first} ${second}`, commands) !== undefined) return [first, second];
  return find(first, commands) !== undefined || isNoun(first, commands) ? [first] : [];
}

/** What people type for a command that has another name here, as other programs call it. */
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

/** The same for verbs: the first ones that the noun has. */
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

function find(name: string, commands: readonly CommandSpec[]): CommandSpec | undefined {
  return commands.find((spec) => spec.name === name) ?? commands.find((spec) => spec.aliases?.includes(name));
}

function isNoun(word: string, commands: readonly CommandSpec[]): boolean {
  return commands.some(({ name }) => name.startsWith(`${word} `));
}

function suggestCommands([first = "", second]: readonly string[], commands: readonly CommandSpec[]): string[] {
  const word = first.toLowerCase();
  const others = (Object.hasOwn(OTHER_WORDS, word) && OTHER_WORDS[word]) || [];
  if (others.length > 0) return others.filter((name) => find(name, commands) !== undefined);
  const near = nearest(word, [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))]);
  if (near !== undefined) {
    const whole = second === undefined ? undefined : find(`${near} ${second}`, commands);
    return [whole?.name ?? near];
  }
  const asVerb = commands.filter(({ name }) => name.split(" ")[1] === word).map(({ name }) => name);
  return asVerb.length <= MAX_SUGGESTIONS ? asVerb : [];
}

function suggestVerbs(noun: string, typed: string, commands: readonly CommandSpec[]): string[] {
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
