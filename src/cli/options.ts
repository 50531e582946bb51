/** Options shared by commands of several nouns. */
import type { CommandData, OptionData, OptionsOf } from "./command.ts";
import type { Settings } from "./settings.ts";
import { parseInteger } from "./values.ts";

/** For commands that no token allows. */
export const PASSWORD_STDIN = {
  flags: "--password-stdin",
  summary: "read your password from line 1 of stdin, when it is needed again",
} as const satisfies OptionData;

/** For commands that ask first. */
export const YES = { flags: "--yes", summary: "skip the confirmation" } as const satisfies OptionData;

/** For lists that are read page by page. */
export const PAGE_OPTIONS = [
  { flags: "--limit <n>", summary: "the page size" },
  { flags: "--cursor <cursor>", summary: "the cursor that the previous page printed" },
] as const satisfies readonly OptionData[];

/** The query fields of a page: as the options say, else as the settings do. */
export function pageOf(
  { limit, cursor }: OptionsOf<typeof PAGE_OPTIONS>,
  { defaults }: Pick<Settings, "defaults">,
  most: number,
): { limit: number | undefined; cursor: string | undefined } {
  return { limit: parseInteger(limit, "--limit", 1, most) ?? defaults.limit, cursor };
}

/** For commands that work on the data folder. */
export const DATA_DIR = {
  flags: "--data-dir <folder>",
  summary: "where the data is (default: KB_DATA_DIR, else the person's data folder)",
} as const satisfies OptionData;

/** For every command; the reference lists them once. */
export const ALWAYS_OPTIONS: readonly OptionData[] = [
  { flags: "--no-input", summary: "never ask" },
  { flags: "--no-color", summary: "no colour" },
];

/** The options of a command as its help lists them: its own, then those that follow from its data. */
export function optionsOf({ options = [], fields, isRemote = false }: CommandData): readonly OptionData[] {
  const hasOwnVerbose = options.some(({ flags }) => flags === VERBOSE.flags);
  return [
    ...options,
    ...(fields === undefined ? [] : [JSON_FIELDS]),
    ...(isRemote ? REMOTE : []),
    ...(isRemote && !hasOwnVerbose ? [VERBOSE] : []),
  ];
}

const JSON_FIELDS: OptionData = {
  flags: "--json [fields]",
  summary: "print the server's answer as JSON, or only these fields of it: the word after it, as in --json id,name",
};

const REMOTE: readonly OptionData[] = [
  { flags: "--url <url>", summary: "the server (default: KB_URL, else the profile)" },
  { flags: "--profile <name>", summary: "a stored server (default: KB_PROFILE, else the last login)" },
];

const VERBOSE: OptionData = { flags: "--verbose", summary: "name the request with every failure" };
