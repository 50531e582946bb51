import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { contextOf, type KitFixture } from "../../kit/fixture.ts";
import { CHECK_TIMEOUT, makeCheckRunner, runSourceCheck, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeWebdavFixture } from "./fixture.ts";
import { MUTANTS, mutated } from "./mutants.ts";
import { startProxy } from "../proxy.ts";
import { type DavServer, findPython, startServer } from "./server.ts";

const PYTHON = findPython();
let server: DavServer;
let root = "";
let count = 0;

describe.skipIf(PYTHON === undefined)("webdav, with a real server", () => {
  beforeAll(async () => {
    if (PYTHON === undefined) return undefined;
    root = mkdtempSync(join(tmpdir(), "kb-webdav-"));
    server = await startServer(PYTHON, root);
    return () => {
      server.stop();
      rmSync(root, { recursive: true, force: true });
    };
  });

  async function makeFixture(): Promise<KitFixture> {
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.stop());
    return makeWebdavFixture({ proxy, root, name: `kit-${++count}` });
  }

  const run = makeCheckRunner(makeFixture);
  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });

  test("signs in to a server that takes only Digest", async () => {
    if (PYTHON === undefined) return;
    const strict = await startServer(PYTHON, root, { digest: true });
    onTestFinished(() => strict.stop());
    const proxy = await startProxy(strict.port);
    onTestFinished(() => proxy.stop());
    const fixture = makeWebdavFixture({ proxy, root, name: "digest" });
    expect(await fixture.source.check(contextOf(fixture))).toEqual({ ok: true });
    expect(proxy.requests.at(-1)?.headers.authorization).toMatch(/^Digest /);
    const wrong = { ...fixture, credentials: fixture.badCredentials ?? {} };
    expect(await fixture.source.check(contextOf(wrong))).toMatchObject({ problem: { field: "credentials" } });
  });

  describe("written in a hurry", () => {
    test.each(Object.entries(MUTANTS))("%s: the kit sees it", async (_name, mutant) => {
      const check = SOURCE_CHECKS.find(({ id }) => id === mutant.caughtBy);
      if (check === undefined) throw new Error(`There is no check ${mutant.caughtBy}.`);
      const { faults } = await runSourceCheck(check, async () => mutated(await makeFixture(), mutant));
      expect(faults).not.toEqual([]);
    });
  });
});
