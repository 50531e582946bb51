/** A word of our own that gave way to the field's: nothing in the repository may bring it back. */
export interface RetiredWord {
  word: string;
  /** What to write instead. */
  instead: string;
  pattern: RegExp;
  /** Where the word is looked for; everywhere when absent. */
  only?: RegExp;
  /** Files that keep it, each with the reason. */
  allowed?: Readonly<Record<string, string>>;
}

const TEXTS = "a sample document says so";

export const RETIRED_WORDS: readonly RetiredWord[] = [
  { word: "era", instead: "protocol revision", pattern: /\b(?:[Ee]ras?|era[A-Z]\w*)\b/ },
  {
    word: "fold (of the index)",
    instead: "compaction",
    pattern: /\b(?:un)?folds?\b|\bfold(?:ed|ing)\b|Fold(?:s|ed|Limits|Job|Delta|Access|Slice|All|Index)?\b|FOLD_/,
    only: /^(?:src\/storage\/(?:index|writer|access)|test\/storage)\//,
  },
  { word: "scene", instead: "search context, fixture", pattern: /\b[Ss]cenes?\b|[a-z]Scene\b|\bScene[A-Z]/ },
  { word: "gatherer", instead: "batcher, collector", pattern: /[Gg]atherers?/ },
  {
    word: "door",
    instead: "route access, endpoint, audience",
    pattern: /\bdoors?\b|\bDOORS?\b|DOOR_|Doors?\b|Door[A-Z]/,
  },
  {
    word: "trouble",
    instead: "failure",
    pattern: /\btroubled?s?\b|TROUBLE|Troubles?\b|Trouble[A-Z]/,
    allowed: {
      "src/storage/tables/items.ts": "the name of a column",
      "src/storage/records/push-uploads.ts": "the name of a column",
    },
  },
  {
    word: "hint (of a source)",
    instead: "change notification",
    pattern: /\bHint(?:Keeper|Listener)?\b|\bhints?\b/,
    only: /^(?:src\/sources\/(?:change-notifications|filesystem\/watch\w*)|src\/server\/sync\/watch\/source-watcher|test\/sources\/filesystem\/watch|docs\/decisions\/0010)/,
    allowed: { "src/sources/filesystem/watch-folders.ts": "the next step that an error names" },
  },
  { word: "knock", instead: "credentials, authenticate", pattern: /\bknock(?:s|ed|ing)?\b|Knock\b/ },
  {
    word: "house",
    instead: "environment, project, kb",
    pattern: /\b[Hh]ouse\b|[a-z]House\b/,
    allowed: {
      "test/extract/formats/docx.test.ts": TEXTS,
      "test/extract/formats/odt.test.ts": TEXTS,
      "test/e2e/connectors.system.test.ts": TEXTS,
    },
  },
  {
    word: "parts (dependencies)",
    instead: "deps",
    pattern: /\b(?:Connector|Sync|Push|Transport)Parts\b|\bparts: \w*(?:Deps|Options)\b/,
  },
  {
    word: "part (a file inside a file)",
    instead: "child item",
    pattern: /ExtractedPart|\b[pP]artRules|keepPartsOf|\bisPartId|[pP]artExternalId|parentOfPart|PART_MARK|\bpartsOf\b/,
    only: /^(?:src\/(?:core|extract|sources|storage|server\/(?:sync|connectors|files))|test\/server\/sync)\//,
  },
  {
    word: "given, how, around (as the name of a value)",
    instead: "options, input, or what it holds",
    pattern: /\b(?:const|let) (?:given|how|around)\b|[(,] ?(?:given|how|around)\??: [A-Z{]/,
    only: /^src\//,
  },
  { word: "who runs it", instead: "your administrator", pattern: /\bwho runs it\b/ },
  { word: "anew", instead: "again, or the verb with re-", pattern: /\b[Aa]new\b/ },
  {
    word: "whoever",
    instead: "who it is: the caller, the holder, anyone who",
    pattern: /\b[Ww]hoever\b/,
  },
  {
    word: "is none, stands, is made, beside, meanwhile (outside comments)",
    instead: "isn't any, is, is created, next to, until then",
    // Lines of docs, and lines of code up to a comment.
    pattern:
      /^(?!\s*(?:\*|\/[/*]))(?:(?!\/\/ |\/\*).)*\b(?:is none|(?:is|are) made|stands?(?! (?:for|alone)\b)|beside|[Mm]eanwhile)\b/,
    only: /^(?:docs\/(?!decisions\/)|README|src\/)/,
  },
  {
    word: "tell (events, ends, refusals)",
    instead: "report, notify, emit",
    pattern:
      /\btell(?:[A-Z]\w*|s?\()|\btold(?:People|Event)\b|Told(?:People|Event|Refusal)|\btellers?Of\b|\b\w*[tT]eller\b|\bTelling\b/,
    only: /^src\//,
  },
  {
    word: "told, said (as the name of a value)",
    instead: "what it holds: account, checked, reported",
    pattern: /\b(?:const|let) (?:told|said)\b|[(,] ?(?:told|said)\??: [A-Z{]/,
    only: /^src\/(?!storage\/database)/,
  },
  {
    word: "Looking, Taking, Standing, Told, Surroundings (as types)",
    instead: "a noun: context, options, limits, credentials",
    pattern: /\b(?:interface|type) (?:Looking|Taking|Standing|Told|Surroundings)\b/,
    only: /^src\//,
  },
  {
    word: "alive (of an item)",
    instead: "present",
    pattern: /\b(?:count|mark)Alive\b|\bAliveOptions\b/,
  },
  {
    word: "hasten",
    instead: "schedule now",
    pattern: /\b[hH]asten\w*/,
  },
  {
    word: "doubt (what is stored)",
    instead: "invalidate",
    pattern: /\bdoubt(?:Everything|Connector|Reading|All)|\.doubt\(/,
    only: /^(?:src|test)\//,
  },
  {
    word: "withhold (items)",
    instead: "hide; the column is withheldAt",
    pattern: /\bwithhold\w*\(|\bendWithholding\b|\bremoveWithheld\b/,
    only: /^(?:src|test)\//,
  },
  { word: "claim strangers", instead: "without unknown people", pattern: /\bclaimStrangers\b/ },
  { word: "knows nothing of", instead: "doesn't depend on, has no", pattern: /\bknows? nothing of\b/ },
];
