/** Options shared by commands of several nouns. */
import type { About, CommandData, OptionsData, OptionsOf } from "./command.ts";
import { parseInteger } from "./values.ts";

/** The option of commands that no token permits. */
export const PASSWORD_STDIN = {
  "--password-stdin": "read your password from line 1 of stdin, if it is needed again",
} as const satisfies OptionsData;

/** The option of commands that ask for confirmation. */
export const YES = { "--yes": "skip the confirmation" } as const satisfies OptionsData;

/** The options of lists that are read page by page. */
export const PAGE_OPTIONS = {
  "--limit <n>": "the page size",
  "--cursor <cursor>": "the cursor that the previous page printed",
} as const satisfies OptionsData;

/** Makes the query fields of a page from the options, or else from the settings. */
export function pageOf(
  { limit, cursor }: OptionsOf<typeof PAGE_OPTIONS>,
  { defaults }: { defaults: { limit?: number } },
  most: number,
): { limit: number | undefined; cursor: string | undefined } {
  return { limit: parseInteger(limit, "--limit", 1, most) ?? defaults.limit, cursor };
}

/** The option of commands that work on the data folder. */
export const DATA_DIR = {
  "--data-dir <folder>": "the data folder (default: KB_DATA_DIR, else the one in your home folder)",
} as const satisfies OptionsData;

/** An argument or option, as help lists it. */
export interface Listed {
  /** The form in the data: `<name>`, `--name <value>`. */
  term: string;
  summary: string;
  choices?: readonly string[];
  repeatable?: boolean;
}

/** Returns the arguments of a command. */
export function argumentsOf({ arguments: data = {} }: Pick<CommandData, "arguments">): Listed[] {
  return listed(data);
}

/** Returns the options of a command as its help lists them: first its own, then those that its data implies. */
export function optionsOf({ options = {}, fields, isRemote = false }: CommandData): Listed[] {
  return listed({ ...options, ...(fields && JSON_FIELDS), ...(isRemote && { ...REMOTE, ...VERBOSE, ...options }) });
}

/** The options of every command; the reference mentions them once. */
export function alwaysOptions(): Listed[] {
  return listed({ "--no-input": "never ask", "--no-color": "no colour" });
}

function listed(data: Readonly<Record<string, About>>): Listed[] {
  return Object.entries(data).map(([term, about]) => ({
    term,
    ...(typeof about === "string" ? { summary: about } : about),
  }));
}

const JSON_FIELDS = {
  "--json [fields]":
    "print the server's response as JSON; with a list of fields, as in --json id,name, print only those fields",
};

const REMOTE = {
  "--url <url>": "the server (default: KB_URL, else the profile)",
  "--profile <name>": "a stored server (default: KB_PROFILE, else the last login)",
};

/** Omitted if a command has an option of this name. */
const VERBOSE = { "--verbose": "print the request ID with every failure" };
