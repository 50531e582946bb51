import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { KitFixture } from "../../kit/fixture.ts";
import { makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { startProxy } from "../proxy.ts";
import { type Crowd, makeCrowd, makeMatrixFixture, makeWorld } from "./fixture.ts";
import { findSynapse, startSynapse, type Synapse } from "./synapse.ts";

const PYTHON = findSynapse();
let server: Synapse;
let crowd: Crowd;

describe.skipIf(PYTHON === undefined)("matrix, with a real homeserver", { timeout: 180_000 }, () => {
  beforeAll(async () => {
    if (PYTHON === undefined) return undefined;
    server = await startSynapse(PYTHON);
    crowd = await makeCrowd(server.url);
    return () => server.stop();
  }, 180_000);

  async function makeFixture(): Promise<KitFixture> {
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.stop());
    return makeMatrixFixture(await makeWorld(server.url, crowd), proxy, server.url);
  }

  const run = makeCheckRunner(makeFixture);
  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});
