/** The kinds of apps that a program is needed for, and all. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeGiteaFixture } from "../sources/gitea/fixture.ts";
import { startGitea, whyNoGitea } from "../sources/gitea/server.ts";
import { makeWorld as makeGiteaWorld } from "../sources/gitea/world.ts";
import { makeCrowd, makeMatrixFixture, makeWorld as makeMatrixWorld } from "../sources/matrix/fixture.ts";
import { findSynapse, startSynapse } from "../sources/matrix/synapse.ts";
import { makeGithubFixture } from "../sources/github/fixture.ts";
import { makeWorld as makeGithubWorld } from "../sources/github/world.ts";
import { startProxy } from "../sources/proxy.ts";
import { makeWebdavFixture } from "../sources/webdav/fixture.ts";
import { findPython, startServer } from "../sources/webdav/server.ts";
import { IN_PROCESS, type Kind } from "./kinds.ts";

/** Over fakes; that of GitHub can serve repositories by the git program. */
export const KINDS: readonly Kind[] = [
  { name: "github", open: async () => makeGithubFixture(await makeGithubWorld()) },
  ...IN_PROCESS,
];

/** Over real programs, as far as they are here. */
export function findPrograms(): readonly Kind[] {
  const [python, synapse] = [findPython(), findSynapse()];
  const kinds: Kind[] = [];
  if (whyNoGitea() === undefined) {
    kinds.push({
      name: "gitea",
      async open() {
        const server = await startGitea();
        onTestFinished(() => server.stop());
        const proxy = await startProxy(server.port);
        onTestFinished(() => proxy.stop());
        return makeGiteaFixture(await makeGiteaWorld(server), proxy);
      },
    });
  }
  if (python !== undefined) {
    kinds.push({
      name: "webdav",
      async open() {
        const root = mkdtempSync(join(tmpdir(), "kb-webdav-"));
        const server = await startServer(python, root);
        onTestFinished(() => {
          server.stop();
          rmSync(root, { recursive: true, force: true });
        });
        const proxy = await startProxy(server.port);
        onTestFinished(() => proxy.stop());
        return makeWebdavFixture({ proxy, root, name: "leaks" });
      },
    });
  }
  if (synapse !== undefined) {
    kinds.push({
      name: "matrix",
      async open() {
        const server = await startSynapse(synapse);
        onTestFinished(() => server.stop());
        const proxy = await startProxy(server.port);
        onTestFinished(() => proxy.stop());
        return makeMatrixFixture(await makeMatrixWorld(server.url, await makeCrowd(server.url)), proxy, server.url);
      },
    });
  }
  return kinds;
}
