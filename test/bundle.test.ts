import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import ts from "typescript-api";
import { describe, test } from "vitest";
import { findPackageRoot } from "#core/spawn.ts";

const root = findPackageRoot();
const dist = join(root, "dist");

/** One `import()`: of what, and the names that are taken from it; undefined where they are taken elsewhere. */
interface Site {
  file: string;
  target: string;
  names: string[] | undefined;
  isInTry: boolean;
}

/** Every `import()` with a literal in a file's text. */
function sitesIn(file: string, text: string): Site[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const sites: Site[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments;
      if (target && ts.isStringLiteralLike(target))
        sites.push({ file, target: target.text, names: namesTaken(node, tree), isInTry: isInTry(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return sites;
}

function isInTry(node: ts.Node): boolean {
  for (let at = node; at.parent; at = at.parent) {
    if (ts.isTryStatement(at.parent) && at.parent.tryBlock === at && at.parent.catchClause) return true;
  }
  return false;
}

/** What is taken from the module: by a pattern, by a member, by the function that `.then` gets, or of a variable. */
function namesTaken(call: ts.Node, tree: ts.SourceFile): string[] | undefined {
  let node = call.parent;
  // `loadPart(() => import(…))` gives what the import gives.
  while (
    ts.isAwaitExpression(node) ||
    ts.isParenthesizedExpression(node) ||
    ts.isArrowFunction(node) ||
    (ts.isCallExpression(node) && ts.isIdentifier(node.expression))
  )
    node = node.parent;
  if (ts.isPropertyAccessExpression(node)) {
    if (node.name.text !== "then") return [node.name.text];
    const [taker] = ts.isCallExpression(node.parent) ? node.parent.arguments : [];
    const pattern = taker && ts.isArrowFunction(taker) ? taker.parameters[0]?.name : undefined;
    return pattern && namesOf(pattern, tree);
  }
  return ts.isVariableDeclaration(node) ? namesOf(node.name, tree) : undefined;
}

function namesOf(name: ts.BindingName, tree: ts.SourceFile): string[] | undefined {
  if (ts.isObjectBindingPattern(name)) return name.elements.map((each) => (each.propertyName ?? each.name).getText());
  if (!ts.isIdentifier(name)) return undefined;
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const isMember = ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression);
    if (isMember && node.expression.getText() === name.text) names.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return names.size > 0 ? [...names] : undefined;
}

/** The names that a built file exports. */
function exportsOf(path: string): Set<string> {
  const tree = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest);
  const names = new Set<string>();
  for (const statement of tree.statements) {
    if (ts.isExportAssignment(statement)) names.add("default");
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause))
      for (const { name } of statement.exportClause.elements) names.add(name.text);
  }
  return names;
}

function sitesOfSources(): Site[] {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts") && !file.startsWith("server/web/app"))
    .flatMap((file) => {
      const text = readFileSync(join(root, "src", file), "utf8");
      return text.includes("import(") ? sitesIn(file, text) : [];
    });
}

function sitesOfBuild(): Site[] {
  return readdirSync(dist)
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) => {
      const text = readFileSync(join(dist, file), "utf8");
      return text.includes("import(") ? sitesIn(file, text) : [];
    });
}

/** What is missing where it is taken. */
async function findMissing(sites: readonly Site[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { file, target, names } of sites) {
    const isOwn = target.startsWith("./");
    // Proof: a module is a record of what it exports.
    const given = isOwn
      ? exportsOf(join(dist, target))
      : new Set(Object.keys((await import(target)) as Record<string, unknown>));
    const lost = names?.filter((name) => !given.has(name)) ?? [];
    // A chunk with nothing but a default is a CommonJS package that lost its names.
    if (names === undefined && isOwn && given.size === 1 && given.has("default")) lost.push("*");
    if (lost.length > 0) missing.push(`${file}: ${lost.join(", ")} of ${target}`);
  }
  return missing;
}

const keyOf = (names: readonly string[] | undefined) => names?.toSorted().join(" ") ?? "?";

describe("the built program", () => {
  test("finds every name that it takes from what it loads later", async ({ expect }) => {
    const built = sitesOfBuild();
    expect(await findMissing(built)).toEqual([]);
    // None of the sources' own was overlooked.
    const known = new Set(built.map(({ names }) => keyOf(names)));
    const sources = sitesOfSources();
    expect(sources.length).toBeGreaterThan(90);
    expect(sources.filter(({ names }) => !known.has(keyOf(names)))).toEqual([]);
  });

  test("tells where a name is missing, in each form of taking it", async ({ expect }) => {
    const text = `
      const { parse, nothing } = await import("yaml");
      const typo = (await import("yaml")).parze;
      const later = import("yaml").then(({ nowhere: there }) => there);
      const { lost } = await loadPart(() => import("yaml"));
      const whole = await import("yaml"); whole.gone();
    `;
    expect(await findMissing(sitesIn("planted.js", text))).toEqual(
      ["nothing", "parze", "nowhere", "lost", "gone"].map((name) => `planted.js: ${name} of yaml`),
    );
  });
});

/** Files of the sources that find something beside the program, and what they find in `dist`. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  "cli/host/keychain-child.ts": [],
  "cli/host/keychain.ts": ["keychain-child.js"],
  "core/build.ts": ["build.json"],
  "core/spawn.ts": [],
  "extract/pdf/open.ts": ["cmaps/UniJIS-UCS2-H.bcmap"],
  "server/main.ts": ["web/index.html"],
};

describe("what is beside the built program", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("server/web/app"))
    .map((file) => ({ file, text: readFileSync(join(root, "src", file), "utf8") }));

  test("is every file that it starts or reads", ({ expect }) => {
    const looking = sources.filter(({ text }) => /import\.meta\.(?:url|dirname)|findPackageRoot\(/u.test(text));
    expect(looking.map(({ file }) => file).toSorted()).toEqual(Object.keys(BESIDE).toSorted());
    const started = sources.flatMap(({ text }) =>
      [...text.matchAll(/findSpawnEntry\("(\w+)"/gu)].map(([, name]) => name),
    );
    expect([...new Set(started)].toSorted()).toEqual(["counter", "extractor", "searcher", "writer"]);
    const files = [...Object.values(BESIDE).flat(), ...started.map((name) => `${name}.js`)];
    expect(files.filter((file) => !existsSync(join(dist, file)))).toEqual([]);
  });

  test("is every package that it requires, with the names that it takes", ({ expect }) => {
    const files = readdirSync(dist).filter((file) => file.endsWith(".js"));
    const required = files.flatMap((file) => {
      const text = readFileSync(join(dist, file), "utf8");
      return [...text.matchAll(/\b(?:__)?require\("([^"]+)"\)/gu)].map(([, name]) => name ?? "");
    });
    expect(required.length).toBeGreaterThan(5);
    expect(required.filter((name) => !isBuiltin(name))).toEqual([]);
    const loaded = sources.flatMap(({ text }) =>
      [...text.matchAll(/const \{ (\w+) \} = load\("([^"]+)"\)/gu)].map(([, name, from]) => [name, from]),
    );
    expect(loaded).toEqual([["AsyncEntry", "@napi-rs/keyring"]]);
    expect(createRequire(import.meta.url)("@napi-rs/keyring")).toHaveProperty("AsyncEntry");
  });
});

describe("reading files", () => {
  test("loads nothing where a failure means that the file is broken", ({ expect }) => {
    const sites = sitesOfSources().filter(({ file }) => file.startsWith("extract/"));
    expect(sites.length).toBeGreaterThan(30);
    expect(sites.filter(({ isInTry: isInside }) => isInside)).toEqual([]);
    const planted = `try { const { a } = await import("x"); } catch { b(); } finally { await import("y"); }`;
    expect(sitesIn("planted.ts", planted).map(({ target, isInTry: isInside }) => [target, isInside])).toEqual([
      ["x", true],
      ["y", false],
    ]);
  });

  test("loads parts through loadPart, which tells a part that is missing from a file that is broken", ({ expect }) => {
    const files = readdirSync(join(root, "src/extract"), { recursive: true, encoding: "utf8" });
    const bare = files
      .filter((file) => file.endsWith(".ts") && file !== "registry.ts")
      .filter((file) =>
        /(?<!loadPart\(\(\) => )import\(["#]/u.test(readFileSync(join(root, "src/extract", file), "utf8")),
      );
    expect(bare).toEqual([]);
  });
});
