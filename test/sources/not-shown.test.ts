import { expect, test } from "vitest";
import type { KitFixture } from "../kit/fixture.ts";
import { makeReplica, runInto } from "../kit/replica.ts";
import { makeGithubFixture } from "./github/fixture.ts";
import { makeWorld } from "./github/world.ts";
import { makeDriveFixture } from "./google-drive/fixture.ts";
import { makeSlackFixture } from "./slack/fixture.ts";

const fixtures: Readonly<Record<string, { make(): Promise<KitFixture>; key: string; name: string }>> = {
  github: { make: async () => makeGithubFixture(await makeWorld()), key: "repositories", name: "acme/none" },
  "google-drive": { make: async () => makeDriveFixture(), key: "drives", name: "no-such-drive" },
  slack: { make: async () => makeSlackFixture(), key: "channels", name: "no-such-channel" },
};

// No GitHub and no Google run here: fakes of ours answer, and an emulator for Slack.
test.each(Object.entries(fixtures))(
  "%s: what the config names and the source doesn't show is told in each full run, and the rest is read",
  async (_source, { make, key, name }) => {
    const fixture = await make();
    const whole = makeReplica();
    await runInto(fixture, whole);
    const containers = [...whole.items.values()].flatMap(({ containers: all = [] }) => all);
    const there = { repositories: ["acme"], drives: [], channels: containers.map(({ id }) => id) }[key] ?? [];
    const config = { ...Object(fixture.config), [key]: [...new Set([...there, name])] };
    const replica = makeReplica();
    const { events } = await runInto({ ...fixture, config }, replica);
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: name, reason: "failed" }));
    expect(replica.items.size).toBeGreaterThan(0);
    const { events: without } = await runInto(fixture, whole);
    expect(without.filter(({ t }) => t === "skip")).toEqual([]);
  },
);
