/**
 * `npm run package` builds kb and writes `build/kb-connector-search-VERSION.tgz`, which people install with
 * `npm install --global --ignore-scripts FILE`. Equal commits give equal files. In it are the bundles without their maps, the
 * docs, exact versions of every package that is installed beside them, and what is bundled: notices and a bill of materials.
 * `--built` takes the build that is there, `--out FOLDER` is where the tarball goes.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { makeShrinkwrap, type Lock } from "./shrinkwrap.ts";
import { makeBillOfMaterials, makeNotices, readPackages } from "./notices.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const { values } = parseArgs({
  options: { built: { type: "boolean" }, out: { type: "string", default: join(ROOT, "build") } },
});
const STAGE = join(values.out, "stage");

/** Members of package.json that mean something where kb is installed. */
const KEPT = ["name", "private", "description", "license", "bin", "type", "engines"] as const;

/** Files of theirs are copied into the build, as `tsup.config.ts` says. */
const COPIED = ["pdfjs-dist"];

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  [member: string]: unknown;
}

/** What the bundlers say of a build: packages inside, and those that are loaded from beside it. */
interface Bundled {
  inside: string[];
  beside: string[];
}

if (values.built !== true)
  execFileSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
const manifest = readJson("package.json") as Manifest;
const lock = readJson("package-lock.json") as Lock;
const { version } = readJson("dist/build.json") as { version: string };
const { inside, beside } = readBundled();
const undeclared = beside.filter((name) => !(name in manifest.dependencies || name in manifest.optionalDependencies));
if (undeclared.length > 0)
  throw new Error(`The build loads packages that package.json doesn't name: ${undeclared.join(", ")}`);

const dependencies = Object.fromEntries(
  Object.entries(manifest.dependencies).filter(([name]) => beside.includes(name)),
);
const staged = {
  ...Object.fromEntries(KEPT.map((member) => [member, manifest[member]])),
  version,
  dependencies,
  optionalDependencies: manifest.optionalDependencies,
};
const shrinkwrap = makeShrinkwrap(staged as typeof staged & { name: string }, lock);
const bundled = readPackages([...inside, ...COPIED].toSorted(), join(ROOT, "node_modules"));

rmSync(STAGE, { recursive: true, force: true });
mkdirSync(STAGE, { recursive: true });
for (const old of tarballs()) rmSync(join(values.out, old));
for (const folder of ["dist", "docs"]) {
  cpSync(join(ROOT, folder), join(STAGE, folder), { recursive: true, filter: (path) => !isLeftOut(basename(path)) });
}
cpSync(join(ROOT, "README.md"), join(STAGE, "README.md"));
writeJson("package.json", staged);
writeJson("npm-shrinkwrap.json", shrinkwrap);
writeJson("sbom.cdx.json", makeBillOfMaterials({ name: String(manifest["name"]), version }, bundled, shrinkwrap));
writeFileSync(join(STAGE, "THIRD_PARTY_NOTICES.md"), makeNotices(bundled));

execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", values.out], {
  cwd: STAGE,
  stdio: "ignore",
});
rmSync(STAGE, { recursive: true });
const [file = ""] = tarballs();
const bytes = readFileSync(join(values.out, file));
process.stdout.write(
  `${join(values.out, file)}\n${(bytes.length / 1e6).toFixed(1)} MB, ${Object.keys(shrinkwrap.packages).length - 1} packages beside it, ${bundled.length} inside\nsha256 ${createHash("sha256").update(bytes).digest("hex")}\n`,
);

function tarballs(): string[] {
  return readdirSync(values.out).filter(
    (name) => name.startsWith(`${String(manifest["name"])}-`) && name.endsWith(".tgz"),
  );
}

/** Maps are kept by who makes a release, and the bundlers' own lists have served. */
function isLeftOut(name: string): boolean {
  return name.endsWith(".map") || name.startsWith("metafile-");
}

function readBundled(): Bundled {
  const inside = new Set(readJson("dist/metafile-web.json") as string[]);
  const beside = new Set<string>();
  for (const part of ["shared", "cli"]) {
    // The shape that esbuild documents.
    const { inputs } = readJson(`dist/metafile-${part}.json`) as {
      inputs: Record<string, { imports: { path: string; external?: boolean }[] }>;
    };
    for (const [path, { imports }] of Object.entries(inputs)) {
      const name = packageOf(path);
      if (name !== undefined) inside.add(name);
      for (const { path: target, external } of imports) {
        if (external === true && /^[@a-z]/u.test(target) && !isBuiltin(target)) beside.add(nameOf(target));
      }
    }
  }
  return { inside: [...inside].toSorted(), beside: [...beside].toSorted() };
}

/** The package that a bundled file belongs to: `node_modules/@a/b/c.js` → `@a/b`. */
function packageOf(path: string): string | undefined {
  const [, inner] = /^.*node_modules\/(.+)$/u.exec(path) ?? [];
  return inner === undefined ? undefined : nameOf(inner);
}

function nameOf(target: string): string {
  return target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}

function writeJson(name: string, value: unknown): void {
  writeFileSync(join(STAGE, name), `${JSON.stringify(value, null, 2)}\n`);
}
