import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tempDir } from "../../temp-dir.ts";
import { git } from "../git/fixture.ts";
import { makeBare } from "../git/http-remote.ts";
import type { World } from "./world.ts";

/** Files of `web`, as the git program serves them. */
export function makeFiles(world: World): { push(path: string, text?: string): void } {
  const work = tempDir();
  const bare = join(world.folder, "acme", "web.git");
  const commit = (path: string, text?: string) => {
    if (text === undefined) rmSync(join(work, path));
    else writeFileSync(join(work, path), text);
    git(work, "add", ".");
    git(work, "commit", "--quiet", "-m", `Write ${path}`);
    world.repositories.web.head = () => sha;
    const sha = git(work, "rev-parse", "HEAD").trim();
  };
  git(work, "init", "--quiet");
  commit("notes.md", "# Notes\n\nThe pump is loud.");
  mkdirSync(dirname(bare), { recursive: true });
  makeBare(work, bare);
  return {
    push(path, text) {
      commit(path, text);
      execFileSync("git", ["push", "--quiet", bare, "main"], { cwd: work, stdio: "ignore" });
    },
  };
}
