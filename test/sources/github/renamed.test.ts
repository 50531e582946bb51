import { expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeGithubFixture } from "./fixture.ts";
import { makeWorld } from "./world.ts";

/** A GitHub that was read, and what is stored of one of its repositories. */
async function open() {
  const world = await makeWorld();
  const fixture = await makeGithubFixture(world);
  const replica = makeReplica();
  await runInto(fixture, replica);
  const { web } = world.repositories;
  const stored = () => [...replica.items.keys()].filter((id) => id.startsWith(`r${web.id}#`));
  expect(stored().length).toBeGreaterThan(1);
  return { ...world, fixture, replica, web, stored };
}

test("an issue that is deleted while its repository is renamed is gone after the next increment", async () => {
  const { fake, fixture, replica, web, stored, issues } = await open();
  const before = stored();
  web.name = "renamed";
  fake.removeIssue(web, issues.gone.number);
  await runInto(fixture, replica, { mode: "incremental" });
  const ofGone = (id: string) => new RegExp(`#${issues.gone.number}(?:\\.|$)`).test(id);
  expect(stored().sort()).toEqual(before.filter((id) => !ofGone(id)).sort());
});

test("an issue that is deleted while its repository is refused is gone once that is open again", async () => {
  const { fake, fixture, replica, web, stored, issues, server } = await open();
  const before = stored();
  server.instead = ({ path }, response) => {
    if (!path.startsWith(`/repositories/${web.id}/`)) return false;
    response.writeHead(403).end();
    return true;
  };
  await runInto(fixture, replica, { mode: "incremental" });
  expect(stored().sort()).toEqual(before.sort());
  server.instead = undefined;
  fake.removeIssue(web, issues.gone.number);
  await runInto(fixture, replica, { mode: "incremental" });
  expect(stored()).toHaveLength(before.filter((id) => !id.includes(`#${issues.gone.number}`)).length);
});

test("a repository that fails in an increment is asked for what changed since the last one, not for everything", async () => {
  const { fixture, replica, web, server } = await open();
  server.instead = ({ path }, response) => {
    if (!path.startsWith(`/repositories/${web.id}/`)) return false;
    response.writeHead(500).end("{}");
    return true;
  };
  const { events } = await runInto(fixture, replica, { mode: "incremental" });
  expect(events).toContainEqual(expect.objectContaining({ t: "skip", reason: "failed", externalId: `r${web.id}` }));
  server.instead = undefined;
  server.requests.length = 0;
  await runInto(fixture, replica, { mode: "incremental" });
  const asked = server.requests.filter(({ path }) => path.startsWith(`/repositories/${web.id}/issues?`));
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter(({ path }) => !path.includes("since="))).toEqual([]);
});
