import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, test } from "vitest";

const root = new URL("..", import.meta.url).pathname;

/** One import: from a file, to a file of ours (path below src) or to a package. Static and dynamic ones alike. */
interface Import {
  from: string;
  to: string;
  isPackage: boolean;
  isDynamic: boolean;
  isTypeOnly: boolean;
}

/** Who may import whom; the table of docs/architecture.md. The first rule whose `from` matches decides. */
interface Rule {
  from: RegExp;
  /** Own files it may import; its own folder is always allowed. */
  may: RegExp[];
  /** Packages it may import; undefined = any. */
  packages?: RegExp;
  /** Allowed by dynamic import only. */
  dynamic?: RegExp[];
  /** Allowed by `import type` only. */
  types?: RegExp[];
}

const ZOD = /^(@hono\/zod-openapi|zod)$/;
/** What every library and feature stands on: the contract, and what everybody shares. */
const GROUND = [/^api\//, /^core\//];

const RULES: Rule[] = [
  { from: /^api\/client\.ts$/, may: [/^api\//], packages: /^openapi-fetch$/ },
  { from: /^api\//, may: [/^api\//], packages: ZOD },
  { from: /^cli\/host\.ts$|^cli\/commands\/(serve|admin)\.ts$/, may: [...GROUND, /^cli\//], dynamic: [/^server\//] },
  { from: /^cli\/commands\/mcp\.ts$/, may: [...GROUND, /^cli\//], dynamic: [/^bridge\//] },
  { from: /^cli\//, may: [...GROUND, /^cli\//] },
  { from: /^bridge\//, may: [...GROUND, /^bridge\//] },
  { from: /^core\//, may: GROUND },
  { from: /^text\//, may: [/^core\//, /^text\//] },
  { from: /^net\//, may: [...GROUND, /^net\//] },
  { from: /^extract\//, may: [...GROUND, /^text\//, /^extract\//] },
  { from: /^storage\//, may: [...GROUND, /^text\//, /^storage\//] },
  // Every source by dynamic import; the contract of what it gives.
  {
    from: /^sources\/(registry|contract|hints)\.ts$/,
    may: [...GROUND, /^net\//, /^sources\/[^/]+$/],
    dynamic: [/^sources\//],
  },
  { from: /^sources\/file-scope\//, may: [...GROUND, /^sources\/contract\.ts$/, /^sources\/file-scope\//] },
  { from: /^sources\/git\//, may: [...GROUND, /^net\//, /^sources\/[^/]+\.ts$/, /^sources\/file-scope\//] },
  { from: /^sources\/[^/]+\//, may: [...GROUND, /^sources\/[^/]+\.ts$/, /^sources\/file-scope\//] },
  // The page runs in a browser: the contract's types and what the build bundles, nothing of the server.
  {
    from: /^server\/web\/app\//,
    may: [/^api\/(?!index\.ts)/, /^server\/web\/app\//],
    packages: /^(react(-dom)?(\/client)?|markdown-it|@tanstack\/react-(router|query)|@base-ui\/react\/[a-z-]+)$/,
  },
  { from: /^server\/([^/]+\.ts$|compose\/)/, may: [...GROUND, /^server\//, /^(storage|sources|extract|net|text)\//] },
  { from: /^server\/web\//, may: [...GROUND, /^server\/http\//] },
  { from: /^server\/http\//, may: [...GROUND, /^storage\//, /^net\//, /^text\//] },
  { from: /^server\/log\//, may: [...GROUND, /^text\//, /^storage\//] },
  // A feature's service takes other features as arguments; their types come from those before it in this order.
  ...features("identity", "connectors", "entities", "files", "search", "sync", "mcp"),
];

/** The rules of the features, in the order in which they may know each other's types. */
function features(...order: string[]): Rule[] {
  return order.map((name, at) => ({
    from: new RegExp(`^server/${name}/`),
    may: [
      ...GROUND,
      /^(net|storage|text)\//,
      /^server\/http\//,
      new RegExp(`^server/${name}/`),
      ...(["connectors", "files", "sync"].includes(name) ? [/^sources\/(contract|hints|push\/events)\.ts$/] : []),
      ...(name === "sync" ? [/^(sources|extract)\//] : []),
    ],
    types: order.slice(0, at).map((earlier) => new RegExp(`^server/${earlier}/`)),
  }));
}

const files = sourceFiles();
const imports = files.flatMap((file) => importsOf(file, readFileSync(join(root, "src", file), "utf8")));

describe("the architecture", () => {
  test("nobody imports against the table", ({ expect }) => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
    expect(imports.map(violation).filter(Boolean)).toEqual([]);
  });

  test("the check sees a planted violation of each kind", ({ expect }) => {
    const planted = [
      importsOf("api/tokens.ts", 'import { readFileSync } from "node:fs";'),
      importsOf("cli/commands/tokens.ts", 'import { makeApp } from "#server/app.ts";'),
      importsOf("bridge/relay.ts", 'import { main } from "#cli/main.ts";'),
      importsOf("server/identity/tokens/service.ts", 'import { makeStore } from "#server/adapters/sql/store.ts";'),
      importsOf("sources/git/index.ts", 'export * from "#server/sources/filesystem/walk.ts";'),
      importsOf("core/clock.ts", 'import { makeStore } from "#storage/store.ts";'),
      importsOf("cli/commands/serve.ts", 'import { run } from "#server/main.ts";'),
      importsOf("storage/store.ts", 'const x = await import("#server/tokens/service.ts");'),
    ];
    expect(planted.map((found) => found.map(violation).filter(Boolean).length)).toEqual(planted.map(() => 1));
    expect(importsOf("cli/commands/serve.ts", 'const m = await import("#server/main.ts");').map(violation)).toEqual([
      undefined,
    ]);
  });

  test("no files import each other in a circle", ({ expect }) => {
    expect(findCycle(imports)).toBeUndefined();
    const planted = [
      ...importsOf("api/a.ts", 'import { b } from "./b.ts";'),
      ...importsOf("api/b.ts", 'import { a } from "#api/a.ts";'),
    ];
    expect(findCycle(planted)).toEqual(["api/a.ts", "api/b.ts", "api/a.ts"]);
  });

  test("the environment is read in the places that own it only", ({ expect }) => {
    const readers = files.filter((file) => /process\.env\b/.test(code(file)));
    expect(
      readers.filter((file) => !/^(server\/config\.ts|cli\/(settings|main)\.ts|bridge\/main\.ts)$/.test(file)),
    ).toEqual([]);
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

function sourceFiles(): string[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith("api/generated"))
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
  const rule = RULES.find((candidate) => candidate.from.test(one.from));
  const text = `${one.from} imports ${one.to}`;
  if (!rule) return `${one.from} has no rule: add its folder to the table`;
  if (one.isPackage) {
    if (one.to.startsWith("node:")) return one.from.startsWith("api/") ? text : undefined;
    return rule.packages === undefined || rule.packages.test(one.to) ? undefined : text;
  }
  if (one.to.startsWith("api/generated/")) return one.from.startsWith("api/") ? undefined : text;
  if (dirname(one.to) === dirname(one.from)) return undefined;
  if (one.to.startsWith(`${dirname(one.from)}/`)) return undefined;
  if (rule.may.some((allowed) => allowed.test(one.to))) return undefined;
  if (one.isTypeOnly && rule.types?.some((allowed) => allowed.test(one.to))) return undefined;
  if (one.isDynamic && rule.dynamic?.some((allowed) => allowed.test(one.to))) return undefined;
  return text;
}

/** A circle of static, run-time imports among our own files, as the path around it. */
function findCycle(all: readonly Import[]): string[] | undefined {
  const next = new Map<string, string[]>();
  for (const one of all) {
    if (one.isPackage || one.isDynamic || one.isTypeOnly) continue;
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
