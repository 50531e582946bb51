import { setTimeout as wait } from "node:timers/promises";
import { describe, onTestFinished, test } from "vitest";
import { makeGiteaSource } from "#sources/gitea/index.ts";
import { LIMITS, makeGithubSource } from "#sources/github/index.ts";
import type { KitFixture } from "../../kit/fixture.ts";
import { openEngine } from "../../kit/engine.ts";
import { startGitea, whyNoGitea } from "../../sources/gitea/server.ts";
import { places } from "../../sources/github/fixture.ts";
import { startProxy } from "../../sources/proxy.ts";
import { tempDir } from "../../temp-dir.ts";
import { startForge } from "./forge.ts";

interface Size {
  issues: number;
  say?: (line: string) => void;
}

/** More than this for each repository, when nothing changed, is waste. */
const MOST_IDLE = 5;
/** Records of a page of Gitea. */
const PAGE = 50;
/** So long the sources of forges look back. */
const OVERLAP_MS = 70_000;
const plenty = { perMinute: 1_000_000, burst: 100_000 };

export function describeCosts({ issues, say = () => undefined }: Size): void {
  const sizes = [Math.ceil(issues * 0.6), Math.ceil(issues * 0.3), Math.floor(issues * 0.1)];
  describe(`what ${issues} issues in three repositories cost`, () => {
    test("at GitHub", { timeout: 3_600_000 }, async ({ expect }) => {
      const forge = await startForge(tempDir(), sizes);
      onTestFinished(() => forge.server.stop());
      const source = makeGithubSource({ ...places(), limits: { ...LIMITS, ...plenty } });
      const config = source.spec.config.parse({
        apiUrl: forge.apiUrl,
        repositories: ["acme"],
        content: ["issues", "pulls"],
      });
      const fixture = {
        source,
        config,
        credentials: { token: forge.token },
        badConfigs: [],
        people: async () => [],
      } as unknown as KitFixture;
      const idle = await measure("GitHub", fixture, () => forge.sent, issues, say);
      expect(idle / sizes.length).toBeLessThanOrEqual(MOST_IDLE);
    });

    test.skipIf(whyNoGitea() !== undefined)("at a real Gitea", { timeout: 3_600_000 }, async ({ expect }) => {
      const server = await startGitea();
      onTestFinished(() => server.stop());
      await server.api("POST", "/orgs", { username: "acme", visibility: "public" });
      for (const [at, size] of sizes.entries()) {
        await server.api("POST", "/orgs/acme/repos", { name: `repository-${at}`, private: true });
        const path = `/repos/acme/repository-${at}/issues`;
        for (let i = 0; i < size; i += 8) {
          const some = Array.from({ length: Math.min(8, size - i) }, (_, n) => i + n);
          await Promise.all(some.map((n) => server.api("POST", path, { title: `Issue ${n}`, body: `About ${n}.` })));
        }
      }
      const proxy = await startProxy(server.port);
      onTestFinished(() => proxy.stop());
      const source = makeGiteaSource(places());
      const config = source.spec.config.parse({
        url: `http://127.0.0.1:${proxy.port}`,
        repositories: ["acme"],
        content: ["issues", "pulls"],
      });
      const fixture = {
        source,
        config,
        credentials: { token: server.token },
        badConfigs: [],
        people: async () => [],
      } as unknown as KitFixture;
      const idle = await measure(
        "Gitea",
        fixture,
        () => proxy.requests.length,
        issues,
        say,
        async () => {
          // What has just changed is asked for again for a while: on a page it costs nothing.
          if (issues <= PAGE) return;
          await wait(OVERLAP_MS);
          for (const at of sizes.keys())
            await server.api("POST", `/repos/acme/repository-${at}/issues`, { title: "The last one" });
        },
      );
      expect(idle / sizes.length).toBeLessThanOrEqual(MOST_IDLE);
    });
  });
}

/** The first run, and an increment when nothing changed, whose requests it gives. */
async function measure(
  name: string,
  fixture: KitFixture,
  sent: () => number,
  issues: number,
  say: (line: string) => void,
  settle: () => Promise<void> = async () => undefined,
): Promise<number> {
  const startedAt = Date.now();
  const kb = await openEngine(fixture);
  await kb.work();
  const stored = (await kb.rows()).length;
  const seconds = (Date.now() - startedAt) / 1_000;
  say(`${name}: ${stored} items in ${seconds.toFixed(1)} s with ${sent()} requests`);
  if (stored < issues)
    throw new Error(`${name}: only ${stored} items are stored: ${JSON.stringify(await kb.lastSync())}`);
  await settle();
  await kb.sync("incremental");
  const before = sent();
  await kb.readPeople();
  const people = sent() - before;
  // Who asks for a sync has people and groups read first, once more.
  await kb.sync("incremental");
  const idle = sent() - before - 2 * people;
  if (idle <= 0) throw new Error(`${name}: ${people} requests for people, and none for items`);
  say(`${name}: who is who ${people} requests; an idle increment ${idle}`);
  const full = sent();
  await kb.sync("full");
  say(`${name}: an unchanged full run ${sent() - full} requests`);
  return idle;
}
