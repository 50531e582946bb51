import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { KitFixture } from "../../kit/fixture.ts";
import { runSourceCheck, SOURCE_CHECKS } from "../../kit/index.ts";
import { startProxy } from "../proxy.ts";
import { makeGiteaFixture } from "./fixture.ts";
import { startGitea, whyNoGitea } from "./server.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;

describe.skipIf(whyNoGitea() !== undefined)("gitea, with a real server", { timeout: 120_000 }, () => {
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

  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
    expect((await runSourceCheck(check, makeFixture)).faults).toEqual([]);
  });
});
