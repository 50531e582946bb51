import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { startProxy } from "../proxy.ts";
import { openReaders, playReaders } from "../own-readers.ts";
import { makeFiles, makeWebdavFixture } from "./fixture.ts";
import { findPython, startServer } from "./server.ts";

const PYTHON = findPython();

describe.skipIf(PYTHON === undefined)("webdav in the server, with a real server", { timeout: 240_000 }, () => {
  test("the readers of the config find what is there, at any time: first, after others read, and after 26 hours", async () => {
    if (PYTHON === undefined) return;
    const root = mkdtempSync(join(tmpdir(), "kb-webdav-"));
    const server = await startServer(PYTHON, root);
    onTestFinished(() => {
      server.stop();
      rmSync(root, { recursive: true, force: true });
    });
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.stop());
    const { source, config, credentials } = makeWebdavFixture({ proxy, root, name: "readers" });
    const files = makeFiles(root, "readers");
    const url = `http://127.0.0.1:${server.port}/locked/readers/`;
    const world = await openReaders({
      source,
      connect: async ({ groupId }) => ({
        body: { config: { ...(config as object), readers: [groupId] }, credentials },
      }),
      list: () => listOf(url),
    });
    await playReaders(world, {
      config: config as object,
      act() {
        files.write("b/1.txt", "other words");
        files.write("new/since.md");
        files.remove("z.txt");
        files.rename("b/c", "e/c");
      },
    });
  });
});

/** The files that the server itself names, asked without anything of ours. */
async function listOf(url: string): Promise<string[]> {
  const authorization = `Basic ${Buffer.from("anna:secret-of-anna").toString("base64")}`;
  const answer = await fetch(url, { method: "PROPFIND", headers: { authorization, depth: "infinity" } });
  const hrefs = [...(await answer.text()).matchAll(/<(?:\w+:)?href>([^<]+)</g)].map(([, href = ""]) => href);
  const { pathname } = new URL(url);
  return hrefs.filter((href) => !href.endsWith("/")).map((href) => decodeURIComponent(href).slice(pathname.length));
}
