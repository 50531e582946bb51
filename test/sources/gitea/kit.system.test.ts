import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { KitFixture } from "../../kit/fixture.ts";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { startProxy } from "../proxy.ts";
import { makeGiteaFixture } from "./fixture.ts";
import { startGitea, whyNoGitea } from "./server.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;

describe.skipIf(whyNoGitea() !== undefined)("gitea, with a real server", () => {
  beforeAll(async () => {
    const server = await startGitea();
    world = await makeWorld(server);
    return () => server.stop();
  }, 120_000);

  async function makeFixture(): Promise<KitFixture> {
    const proxy = await startProxy(world.server.port);
    onTestFinished(() => proxy.stop());
    return makeGiteaFixture(world, proxy);
  }

  const run = makeCheckRunner(makeFixture);
  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});
