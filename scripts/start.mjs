// `npm start`: builds what is stale, then indexes the project's own docs and runs a first search.
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL("..", import.meta.url).pathname;

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: "inherit" });
  if (error) process.stderr.write(`${command} could not be started: ${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}

function changedAt(path) {
  try {
    return statSync(join(ROOT, path)).mtimeMs;
  } catch {
    return 0;
  }
}

/** The newest of all files that a build is made of. */
function newestInput() {
  const sources = readdirSync(join(ROOT, "src"), { recursive: true }).map((name) => join("src", name));
  const inputs = ["package.json", "package-lock.json", "tsup.config.ts", "vite.config.ts", ...sources];
  return Math.max(...inputs.map(changedAt));
}

if (changedAt("dist/web/index.html") < newestInput() || changedAt("dist/build.json") === 0) {
  process.stdout.write("Building kb …\n");
  run("npm", "run", "--silent", "build");
}
run(process.execPath, "dist/cli.js", "quickstart", "docs");
