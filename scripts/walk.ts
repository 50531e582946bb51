/**
 * The way of one value through `src`, as a reader follows it: from a parameter into the functions that it is passed to, the
 * names that it gets, the properties that hold it and the callers that it is returned to. Parts that are only read from it end there.
 *
 *   npx tsx scripts/walk.ts FILE:FUNCTION:PARAMETER ...     FILE below `src`
 *   npx tsx scripts/walk.ts --root DIR ...                  in another checkout, with its own packages
 *   npx tsx scripts/walk.ts --steps ...                     each step on a line
 *
 * Prints for each value how often the reader enters a file, how many files and names there are on the way.
 */
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript-api";
import { follow, type Step } from "./walk/follow.ts";
import { openProject, type Project } from "./walk/project.ts";

const { values, positionals } = parseArgs({
  options: { root: { type: "string" }, steps: { type: "boolean", default: false } },
  allowPositionals: true,
});
const root = resolve(values.root ?? fileURLToPath(new URL("..", import.meta.url)));
if (positionals.length === 0) fail("Name at least one value, as in server/sync/run/run.ts:runSync:options.");

const project = openProject(root);
for (const start of positionals) show(start, follow(project, declarationOf(project, start)));

function show(start: string, steps: readonly Step[]): void {
  if (values.steps) {
    for (const { depth, file, name, line } of steps) {
      process.stdout.write(`${"  ".repeat(depth)}${name}  ${relative(join(root, "src"), file)}:${line}\n`);
    }
  }
  const entered = steps.filter(({ file }, at) => file !== steps[at - 1]?.file).length;
  const distinct = (of: (step: Step) => string) => new Set(steps.map(of)).size;
  const names = distinct(({ name }) => name);
  process.stdout.write(`${start}: ${entered} visits, ${distinct(({ file }) => file)} files, ${names} names\n`);
}

function declarationOf({ program }: Project, start: string): ts.Identifier {
  const [path = "", functionName, parameterName] = start.split(":");
  const file = program.getSourceFile(join(root, "src", path));
  if (file === undefined) fail(`There is no file src/${path}.`);
  let found: ts.Identifier | undefined;
  const look = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && nameOf(node) === functionName) {
      for (const { name } of node.parameters) {
        if (ts.isIdentifier(name) && name.text === parameterName) found ??= name;
      }
    }
    ts.forEachChild(node, look);
  };
  look(file);
  return found ?? fail(`There is no parameter ${parameterName} of a function ${functionName} in src/${path}.`);
}

/** Also of a function that is the value of a constant or of a property. */
function nameOf(node: ts.SignatureDeclaration): string | undefined {
  const { name } = node.name === undefined ? (node.parent as { name?: ts.Node }) : node;
  return name === undefined ? undefined : name.getText();
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
