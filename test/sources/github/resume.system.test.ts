import { expect, onTestFinished, test } from "vitest";
import { LIMITS, makeGithubSource } from "#sources/github/index.ts";
import { AT_EACH_PAGE, type KitFixture } from "../../kit/fixture.ts";
import { makeReplica, type RunOptions, runInto, snapshotOf } from "../../kit/replica.ts";
import { tempDir } from "../../temp-dir.ts";
import { startForge } from "../../long/apps/forge.ts";
import { places } from "./fixture.ts";

const ISSUES = 60;
const PAGE = 5;
const FEBRUARY = Date.parse("2026-02-01T00:00:00Z");

/** One repository of many pages. */
async function open() {
  const forge = await startForge(tempDir(), [ISSUES]);
  onTestFinished(() => forge.server.stop());
  forge.server.page = PAGE;
  const limits = { ...LIMITS, perMinute: 1_000_000, burst: 100_000 };
  const source = makeGithubSource({ ...places(), limits, checkpoints: AT_EACH_PAGE });
  const config = source.spec.config.parse({
    apiUrl: forge.apiUrl,
    repositories: ["acme"],
    content: ["issues", "pulls"],
  });
  // What a run needs of a fixture.
  const fixture = { source, config, credentials: { token: forge.token } } as unknown as KitFixture;
  const [repository] = forge.repositories;
  if (!repository) throw new Error("There is a repository.");
  for (const issue of repository.issues.values()) {
    const before = issue.updatedAt;
    forge.fake.addComment(repository, issue, `Said at ${issue.number}.`).updatedAt = FEBRUARY + issue.number * 60_000;
    issue.updatedAt = before;
  }
  const replica = makeReplica();
  /** An attempt, and the listings that it asked for. */
  const attempt = async (options: RunOptions = {}) => {
    forge.server.requests.length = 0;
    const { events } = await runInto(fixture, replica, options);
    const asked = forge.server.requests.map(({ path }) => path.split("?")[0] ?? path);
    const count = (ending: string) => asked.filter((path) => path.endsWith(ending)).length;
    return { events, issues: count("/issues"), comments: count("/comments") };
  };
  return { forge, fixture, repository, replica, attempt };
}

test("a listing that was stopped goes on where it stood in the repository, and ends in the same items", async () => {
  const { fixture, replica, attempt } = await open();
  const whole = makeReplica();
  await runInto(fixture, whole);
  const first = await attempt({ killAfter: 50 });
  expect(first.issues).toBeGreaterThanOrEqual(50 / PAGE - 1);
  const stored = replica.items.size;
  expect(stored).toBeGreaterThanOrEqual(30);
  const second = await attempt({ isResume: true });
  // Some pages were told after the last checkpoint, and the last one before it comes again.
  expect(second.issues).toBeLessThan((ISSUES - stored) / PAGE + 4);
  expect(second.events.filter(({ t }) => t === "upsert").length).toBeLessThanOrEqual(whole.items.size - stored);
  expect(snapshotOf(replica)).toEqual(snapshotOf(whole));
});

test("one that was stopped at its comments asks for no issue again, and misses none that was said at an earlier one", async () => {
  const { fixture, replica, attempt } = await open();
  const whole = makeReplica();
  const { events } = await runInto(fixture, whole);
  const isComment = (event: (typeof events)[number]) => event.t === "upsert" && event.item.kind === "message";
  const at = events.findIndex(isComment);
  await attempt({ killAfter: at + 40 });
  expect(replica.items.size).toBeGreaterThan(ISSUES + 20);
  const second = await attempt({ isResume: true });
  expect(second.issues).toBe(0);
  expect(second.comments).toBeLessThan(ISSUES / PAGE);
  expect(snapshotOf(replica)).toEqual(snapshotOf(whole));
});

test("what changes between two attempts is told as it is then", async () => {
  const { fixture, repository, replica, attempt } = await open();
  await attempt({ killAfter: 50 });
  const [told] = [...repository.issues.values()];
  if (!told) throw new Error("There is an issue.");
  told.title = "Another title";
  told.updatedAt = Date.now();
  await attempt({ isResume: true });
  const whole = makeReplica();
  await runInto(fixture, whole);
  expect(snapshotOf(replica)).toEqual(snapshotOf(whole));
});

test("after another name, and in another run, it begins again", async () => {
  const renamed = await open();
  await renamed.attempt({ killAfter: 50 });
  renamed.repository.name = "renamed";
  expect((await renamed.attempt({ isResume: true })).issues).toBeGreaterThanOrEqual(ISSUES / PAGE);
  expect(JSON.stringify([...renamed.replica.items.values()])).not.toContain("repository-0");

  const other = await open();
  await other.attempt({ killAfter: 50 });
  expect((await other.attempt()).issues).toBeGreaterThanOrEqual(ISSUES / PAGE);
});

test("a repository that is new in an increment goes on where it stood, too", async () => {
  const { forge, attempt, replica } = await open();
  await attempt();
  const added = forge.fake.addRepository("later", "private");
  for (let i = 0; i < ISSUES; i++) {
    forge.fake.addIssue(added, `Late ${i}`, { updatedAt: FEBRUARY + i * 60_000 });
  }
  const before = replica.items.size;
  await attempt({ mode: "incremental", killAfter: 40 });
  const stored = replica.items.size - before;
  expect(stored).toBeGreaterThanOrEqual(10);
  const second = await attempt({ mode: "incremental", isResume: true });
  expect(second.events.filter(({ t }) => t === "upsert").length).toBeLessThanOrEqual(ISSUES - stored);
  expect(replica.items.size).toBe(before + ISSUES);
});
