import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, test } from "vitest";

const root = new URL("..", import.meta.url).pathname;

/** Tests outside the system suite that start a program nevertheless: what for. */
const STARTERS: Readonly<Record<string, string>> = {
  "cli/completion.test.ts": "bash completes a word",
  "cli/lock.test.ts": "node ends, and its id is a dead one's",
  "cli/quickstart/clients.test.ts": "sh runs the printed commands against programs that print",
  "package/package.test.ts": "the packed program runs once, as a short form of the system test",
  "docs/event-samples.test.ts": "python runs the sample of the page",
  "sources/filesystem/open-inside.test.ts": "mkfifo, and node flips a link",
  "sources/filesystem/walk.test.ts": "mkfifo, and git says what it ignores",
  "sources/github/attacks.test.ts": "git makes the repositories of the fake",
  "sources/github/emulated.test.ts": "git makes the repositories of the fake",
  "sources/github/renamed.test.ts": "git makes the repositories of the fake",
  "sources/waits.test.ts": "git makes the repositories of the fake of GitHub",
  "sources/not-shown.test.ts": "git makes the repositories of the fake of GitHub",
  "storage/data-folder.test.ts": "cat reads as another user",
  "storage/index/kill.test.ts": "node is killed once, as a short form of the system test",
};

/** Files outside `src/sources/` with a word that is also the id of a kind of app, or with the host of one: what for. */
const NAMERS: Readonly<Record<string, string>> = {
  "api/accounts.ts": "the routes of accounts name three services",
  "api/connector-records.ts": "`push` is a capability",
  "cli/commands/quickstart.ts": "it indexes a folder",
  "cli/line/names.ts": "`push` is a command",
  "cli/push/report.ts": "`push` is a command",
  "server/accounts/providers.ts": "the routes of accounts name three services",
  "server/connectors/push-authority.ts": "principals of pushers' users say `push`",
  "server/connectors/sources.ts": "`push` is a capability",
  "server/http/limits.ts": "`push` is a limit",
  "server/main.ts": "`web` is the folder of the page",
  "server/mcp/reference.ts": "examples for agents",
  "server/settings/settings-table.ts": "settings of accounts are of services",
  "server/web/app/pages/source-people.tsx": "an example to type",
  "text/secrets/formats.ts": "a secret that is a URL",
};

/** One import: from a file, to a file of ours (path below src) or to a package. Static and dynamic ones alike. */
interface Import {
  from: string;
  to: string;
  isPackage: boolean;
  isDynamic: boolean;
  isTypeOnly: boolean;
}

/**
 * Who may import whom; docs/architecture.md shows the same rows. The first row whose `from` fits decides, and a file's
 * own folder is always allowed. A name that ends in "/" is a folder with all below it, `*` one name, `<x>` one folder.
 */
interface Rule {
  from: string;
  may: readonly string[];
  /** Of what it may import, what it may not. */
  except?: string;
  /** By dynamic import only. */
  dynamic?: readonly string[];
  /** By `import type` only. */
  types?: readonly string[];
  /** Packages it may import; absent = any, Node's own modules included. */
  packages?: readonly string[];
}

/** What every library and feature stands on: the contract, and what everybody shares. */
const GROUND = ["api/", "core/"];
/** What a source is, without how one is read. */
const SOURCE_TYPES = ["sources/context.ts", "sources/contract.ts", "sources/item.ts"];
const SHARED = ["api/", "core/", "sources/*.ts", "sources/file-scope/"];
const SOURCE = [...SHARED, "sources/git-repository/", "sources/forge/", "sources/chat/", "sources/atlassian/"];

/** What accounts and connections do alike, and who a connector or a connection is for. */
const SIGN_IN_SHARED = [
  "server/accounts/address.ts",
  "server/accounts/one-time.ts",
  "server/accounts/reauth.ts",
  "server/accounts/renewal.ts",
  "server/accounts/time-limit.ts",
  "server/accounts/token-endpoint.ts",
  "server/connectors/visibility.ts",
  "sources/http/pool.ts",
];

const RULES: readonly Rule[] = [
  { from: "api/client.ts", may: [], packages: [] },
  { from: "api/", may: [], packages: ["zod", "@hono/zod-openapi"] },
  { from: "core/", may: ["api/"] },
  { from: "text/", may: ["core/"] },
  { from: "net/", may: GROUND },
  { from: "mcp-client/", may: [...GROUND, "net/"] },
  { from: "extract/", may: [...GROUND, "text/"] },
  { from: "storage/", may: [...GROUND, "text/"] },
  // A source is given its way out: it makes none.
  { from: "sources/http/", may: [...GROUND, "net/", "sources/*.ts"] },
  { from: "sources/*.ts", may: GROUND, types: ["net/", "mcp-client/"], dynamic: ["sources/"] },
  { from: "sources/file-scope/", may: [...GROUND, ...SOURCE_TYPES] },
  { from: "sources/chat/", may: SHARED },
  { from: "sources/atlassian/", may: SHARED },
  { from: "sources/git-repository/", may: SHARED, types: ["net/"] },
  { from: "sources/forge/", may: [...SHARED, "sources/git-repository/"] },
  { from: "sources/git/", may: SOURCE, types: ["net/"] },
  { from: "sources/mcp/", may: [...SHARED, "mcp-client/"] },
  { from: "sources/<x>/", may: SOURCE },
  { from: "bridge/", may: GROUND },
  { from: "cli/commands/serve.ts", may: GROUND, dynamic: ["server/"] },
  { from: "cli/commands/admin.ts", may: GROUND, dynamic: ["server/"] },
  { from: "cli/commands/check.ts", may: GROUND, types: ["server/check.ts"], dynamic: ["server/"] },
  { from: "cli/commands/reindex.ts", may: GROUND, dynamic: ["server/"] },
  { from: "cli/commands/mcp.ts", may: GROUND, dynamic: ["bridge/"] },
  { from: "cli/", may: GROUND },
  // The page runs in a browser: the contract's types and what the build bundles, nothing of the server.
  {
    from: "server/web/app/",
    may: ["api/"],
    except: "api/index.ts",
    packages: [
      "react",
      "react-dom",
      "@tanstack/react-router",
      "@tanstack/react-query",
      "@base-ui/react",
      "markdown-it",
    ],
  },
  { from: "server/web/", may: [...GROUND, "server/http/"] },
  { from: "server/log/", may: [...GROUND, "text/"] },
  { from: "server/http/", may: [...GROUND, "net/", "storage/"] },
  // A feature's service takes other features as arguments; their types come from those before it in this order.
  ...features(
    "identity",
    "events",
    "connectors",
    "accounts",
    "provider-servers",
    "entities",
    "files",
    "search",
    "sync",
    "mcp",
  ),
  {
    from: "server/settings/",
    may: [...GROUND, "net/", "server/identity/oauth/policy.ts"],
    types: ["storage/"],
  },
  {
    from: "server/compose/",
    may: [...GROUND, "net/", "mcp-client/", "text/", "storage/", "sources/", "extract/", "server/"],
  },
  {
    from: "server/*.ts",
    may: [...GROUND, "net/", "mcp-client/", "text/", "storage/", "sources/", "extract/", "server/"],
  },
];

/** The rules of the features, in the order in which they may know each other's types. */
function features(...order: string[]): Rule[] {
  return order.map((name, at) => ({
    from: `server/${name}/`,
    may: [
      ...GROUND,
      "net/",
      "text/",
      "storage/",
      "server/http/",
      ...(name === "connectors"
        ? ["sources/content.ts", ...SOURCE_TYPES, "sources/http/pool.ts", "sources/push/events.ts"]
        : []),
      ...(name === "accounts"
        ? ["sources/account-contract.ts", "sources/http-contract.ts", "sources/http/pool.ts"]
        : []),
      ...(name === "provider-servers" ? ["mcp-client/", ...SIGN_IN_SHARED] : []),
      ...(name === "sync" ? ["sources/", "extract/"] : []),
    ],
    ...(at > 0 && { types: order.slice(0, at).map((earlier) => `server/${earlier}/`) }),
  }));
}

/** What runs in a browser too: none of Node's own modules. */
const BROWSER_SAFE = /^(api|server\/web\/app)\//;

/** What a name of the table stands for. */
function toPattern(name: string): RegExp {
  const escaped = name.replaceAll(/[.+]/g, "\\$&").replaceAll("*", "[^/]+").replaceAll("<x>", "[^/]+");
  return new RegExp(`^${escaped}${name.endsWith("/") ? "" : "$"}`);
}

/** A rule as its row in docs/architecture.md, without the blanks that align it. */
function toRow({ from, may, except, types = [], dynamic = [], packages }: Rule): string {
  const list = (names: readonly string[]) => names.map((name) => `\`${name.replace(/\/$/, "")}\``).join(", ");
  const allowed = `${list(may)}${except === undefined ? "" : `, not \`${except}\``}`;
  return [from, allowed, list(types), list(dynamic), packages === undefined ? "any" : list(packages)]
    .map((cell, i) => (i === 0 ? list([cell]) : cell))
    .join("|");
}

const files = sourceFiles();
const imports = files.flatMap((file) => importsOf(file, readFileSync(join(root, "src", file), "utf8")));

describe("the architecture", () => {
  test("no one imports against the table", ({ expect }) => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
    expect(imports.map(violation).filter(Boolean)).toEqual([]);
  });

  test("the check sees a planted violation of each kind", ({ expect }) => {
    const planted = [
      importsOf("api/tokens.ts", 'import { readFileSync } from "node:fs";'),
      importsOf("cli/commands/tokens.ts", 'import { makeApp } from "#server/app.ts";'),
      importsOf("bridge/relay.ts", 'import { main } from "#cli/main.ts";'),
      importsOf("server/identity/tokens/service.ts", 'import type { Source } from "#sources/contract.ts";'),
      importsOf("server/identity/tokens/service.ts", 'import type { Policy } from "#server/search/types.ts";'),
      importsOf("server/search/service.ts", 'import { makeFileService } from "#server/files/service.ts";'),
      importsOf("server/web/app/main.tsx", 'import { mountWeb } from "../serve.ts";'),
      importsOf("server/web/app/main.tsx", 'import { readFileSync } from "node:fs";'),
      importsOf("sources/git/index.ts", 'export * from "#sources/filesystem/walk.ts";'),
      importsOf("sources/git/index.ts", 'import { makeSigner } from "#sources/http/signers.ts";'),
      importsOf("sources/push/index.ts", 'import { makeSourceHttpPool } from "#sources/http/pool.ts";'),
      importsOf("sources/git-repository/mirror.ts", 'import { makeAddressGuard } from "#net/address-guard.ts";'),
      importsOf("core/clock.ts", 'import { makeStore } from "#storage/records/store.ts";'),
      importsOf("cli/commands/serve.ts", 'import { run } from "#server/main.ts";'),
      importsOf("storage/records/store.ts", 'const x = await import("#server/identity/tokens/service.ts");'),
    ];
    expect(planted.map((found) => found.map(violation).filter(Boolean).length)).toEqual(planted.map(() => 1));
    expect(importsOf("cli/commands/serve.ts", 'const m = await import("#server/main.ts");').map(violation)).toEqual([
      undefined,
    ]);
  });

  test("docs/architecture.md shows the same table, row by row", ({ expect }) => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const section = page.slice(page.indexOf("## Import rules"));
    const rows = section.slice(0, section.indexOf("\n## ", 1)).match(/^\| `.*$/gm) ?? [];
    const shown = rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
        .join("|"),
    );
    expect(shown).toEqual(RULES.map(toRow));
  });

  test("every name in the table is a file or folder that is there", ({ expect }) => {
    const names = RULES.flatMap(({ from, may, except = [], types = [], dynamic = [] }) =>
      [from, may, except, types, dynamic].flat(),
    );
    expect(names.filter((name) => !files.some((file) => toPattern(name).test(file)))).toEqual([]);
  });

  test("no files import each other in a circle", ({ expect }) => {
    expect(findCycle(imports)).toBeUndefined();
    const planted = [
      ...importsOf("api/a.ts", 'import { b } from "./b.ts";'),
      ...importsOf("api/b.ts", 'import type { a } from "#api/a.ts";'),
    ];
    expect(findCycle(planted)).toEqual(["api/a.ts", "api/b.ts", "api/a.ts"]);
    const ofTypes = [
      ...importsOf("storage/records/a.ts", 'import type { B } from "#storage/batch/b.ts";'),
      ...importsOf("storage/batch/b.ts", 'export type { C } from "./c.ts";'),
      ...importsOf("storage/batch/c.ts", 'import type { A } from "#storage/records/a.ts";'),
    ];
    expect(findCycle(ofTypes)).toHaveLength(4);
    expect(findCycle(ofTypes.slice(1))).toBeUndefined();
  });

  test("search threads load no schemas: each thread would hold their libraries, 850 kB of code", ({ expect }) => {
    const loaded = new Set(["storage/index/read/searcher-thread.ts"]);
    const packages = new Set<string>();
    for (const file of loaded) {
      const needed = imports.filter(({ from, isTypeOnly }) => from === file && !isTypeOnly);
      for (const { to, isPackage } of needed) (isPackage ? packages : loaded).add(to);
    }
    expect(loaded.size).toBeGreaterThan(50);
    expect([...packages].filter((name) => !name.startsWith("node:"))).toEqual(["@photostructure/sqlite", "lru-cache"]);
  });

  test("every check in memory of who may read asks the one decision", ({ expect }) => {
    const asking = imports.filter(({ to }) => to === "storage/access/decision.ts").map(({ from }) => from);
    expect(asking.sort()).toEqual([
      "server/connectors/read-by-nobody.ts",
      "storage/access/access-codes.ts",
      "storage/index/read/excerpts.ts",
      "storage/policy/explain.ts",
      "storage/records/access.ts",
    ]);
    const askingSql = imports.filter(({ to }) => to === "storage/access/decision-sql.ts").map(({ from }) => from);
    expect(askingSql.sort()).toEqual([
      "storage/index/visibility/access-table.ts",
      "storage/index/visibility/visibility.ts",
      "storage/records/access.ts",
    ]);
  });

  test("the environment is read in the places that own it only", ({ expect }) => {
    const readers = files.filter((file) => /process\.env\b/.test(code(file)));
    expect(
      readers.filter(
        (file) => !/^(server\/settings\/config\.ts|cli\/(login\/settings|main)\.ts|bridge\/main\.ts)$/.test(file),
      ),
    ).toEqual([]);
  });

  test("a test that starts a program, or a helper that does, is of the system suite: `x.system.test.ts`", ({
    expect,
  }) => {
    const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
    const inProcess = tests.filter((file) => file.endsWith(".test.ts") && !file.endsWith(".system.test.ts"));
    expect(inProcess.filter((file) => startsProgram(file)).sort()).toEqual(Object.keys(STARTERS).sort());
  });

  test("no kind of app is named outside `src/sources/`: what is said of one is data of its `spec`", ({ expect }) => {
    const kinds = new Set(
      files
        .filter((file) => file.startsWith("sources/"))
        .flatMap((file) => [...code(file).matchAll(/providerId: "([a-z\d-]+)"/g)].map(([, id = ""]) => id)),
    );
    // The name of a protocol, too, which kb speaks itself.
    kinds.delete("mcp");
    expect([...kinds]).toEqual(expect.arrayContaining(["filesystem", "git", "push", "github", "slack"]));
    const outside = files.filter((file) => !/^sources\/|\/generated\//.test(file));
    const naming = outside.filter((file) => namesKind(code(file), kinds));
    expect(naming.sort()).toEqual(Object.keys(NAMERS).sort());
    expect(
      ['if (id === "github")', 'new Set(["push"])', "[/\\.slack\\.com$/, 1]"].map((text) => namesKind(text, kinds)),
    ).toEqual([true, true, true]);
    expect(namesKind('providerId: "folder"', kinds)).toBe(false);
  });

  test("a source file over 400 lines says why in its first comment", ({ expect }) => {
    const long = files
      .map((file) => ({ file, text: readFileSync(join(root, "src", file), "utf8") }))
      .filter(({ text }) => text.split("\n").length > 400 && !/^(\/\/|\/\*)/.test(text));
    expect(long.map(({ file }) => file)).toEqual([]);
  });

  test("no lint rule is switched off without a reason", ({ expect }) => {
    const silent = files.filter((file) => /(?:oxlint|eslint)-disable(?!.*--)/.test(code(file)));
    expect(silent).toEqual([]);
  });
});

/** Whether a text names a kind of app by its id, or by a host of the services that are known. */
function namesKind(text: string, kinds: ReadonlySet<string>): boolean {
  const words = [...text.matchAll(/(["'`])([a-z\d-]+)\1/g)].map(([, , word = ""]) => word);
  return (
    words.some((word) => kinds.has(word)) ||
    /\b(?:github|slack|google|gitea|atlassian|matrix)\\?\.(?:com|org|net)\b/.test(text)
  );
}

/** Whether a file of `test/`, or one that it imports there, imports what starts programs. */
function startsProgram(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  const source = readFileSync(join(root, "test", file), "utf8");
  const imported = [...source.matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)].map(([, name = ""]) => name);
  if (imported.some((name) => name === "node:child_process" || name === "playwright-core")) return true;
  const own = imported.filter((name) => name.startsWith(".")).map((name) => normalize(join(dirname(file), name)));
  return own.some((name) => existsSync(join(root, "test", name)) && startsProgram(name, seen));
}

function sourceFiles(): string[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .sort();
}

function code(file: string): string {
  return readFileSync(join(root, "src", file), "utf8");
}

/** Every specifier of a file's text, resolved. */
function importsOf(from: string, text: string): Import[] {
  const found: Import[] = [];
  const withoutComments = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const statement = /(?:^|[;\s])(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+\s+from\s+)?["']([^"']+)["']/g;
  for (const match of withoutComments.matchAll(statement)) add(match[2] ?? "", false, Boolean(match[1]));
  for (const match of withoutComments.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g)) add(match[1] ?? "", true, false);
  return found;

  function add(specifier: string, isDynamic: boolean, isTypeOnly: boolean): void {
    const to = resolve(from, specifier);
    found.push({ from, to: to ?? specifier, isPackage: to === undefined, isDynamic, isTypeOnly });
  }
}

function resolve(from: string, specifier: string): string | undefined {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith(".")) return relative(".", normalize(join(dirname(from), specifier)));
  return undefined;
}

/** Says what is wrong with an import, if anything is. */
function violation(one: Import): string | undefined {
  const rule = RULES.find(({ from }) => toPattern(from).test(one.from));
  const text = `${one.from} imports ${one.to}`;
  if (!rule) return `${one.from} has no rule: add its folder to the table`;
  if (one.isPackage) {
    if (one.to.startsWith("node:")) return BROWSER_SAFE.test(one.from) ? text : undefined;
    const known = rule.packages?.some((name) => one.to === name || one.to.startsWith(`${name}/`)) ?? true;
    return known ? undefined : text;
  }
  if (isIn(one.to, ownFolder(one.from))) return undefined;
  const fits = (names: readonly string[] = []) => names.some((name) => toPattern(name).test(one.to));
  if (one.to !== rule.except && fits(rule.may)) return undefined;
  if (one.isTypeOnly && fits(rule.types)) return undefined;
  if (one.isDynamic && fits(rule.dynamic)) return undefined;
  return text;
}

/** The folder that a row speaks of: a library, a program, a feature of the server, one source. */
function ownFolder(file: string): string {
  if (file.startsWith("server/web/app/")) return "server/web/app";
  const [top = "", second = ""] = file.split("/");
  const isSplit = (top === "server" || top === "sources") && file.split("/").length > 2;
  return isSplit ? `${top}/${second}` : top;
}

function isIn(file: string, folder: string): boolean {
  // A library is one room; the files above the features and the sources are not.
  return folder === "server" || folder === "sources"
    ? dirname(file) === folder
    : file === folder || file.startsWith(`${folder}/`);
}

/** A circle of static imports among our own files, of types too, as the path around it. */
function findCycle(all: readonly Import[]): string[] | undefined {
  const next = new Map<string, string[]>();
  for (const one of all) {
    if (one.isPackage || one.isDynamic) continue;
    next.set(one.from, [...(next.get(one.from) ?? []), one.to]);
  }
  const done = new Set<string>();
  const path: string[] = [];
  for (const start of [...next.keys()].sort()) {
    const found = visit(start);
    if (found) return found;
  }
  return undefined;

  function visit(file: string): string[] | undefined {
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file];
    if (done.has(file)) return undefined;
    path.push(file);
    for (const target of next.get(file) ?? []) {
      const found = visit(target);
      if (found) return found;
    }
    path.pop();
    done.add(file);
    return undefined;
  }
}
