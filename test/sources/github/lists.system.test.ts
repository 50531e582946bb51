import { describe, expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeFiles } from "./files.ts";
import { makeGithubFixture } from "./fixture.ts";
import { idOf, makeWorld } from "./world.ts";

/** GitHub with files, and one list of `web` that fails for as long as it is told to. */
async function open() {
  const world = await makeWorld();
  const files = makeFiles(world);
  const fixture = await makeGithubFixture(world, { content: ["issues", "pulls", "files"] });
  const { repositories, server, issues, remark } = world;
  const { web } = repositories;
  const replica = makeReplica();
  return {
    ...world,
    files,
    web,
    replica,
    note: `r${web.id}:notes.md`,
    pull: idOf(web, issues.pull),
    remark: `${idOf(web, issues.pull)}.v${remark.id}`,
    fail(list: string) {
      server.instead = ({ path }, response) => {
        if (!path.startsWith(`/repositories/${web.id}/${list}?`)) return false;
        response.writeHead(502).end("{}");
        return true;
      };
    },
    heal: () => void (server.instead = undefined),
    run: (mode: "full" | "incremental") => runInto(fixture, replica, { mode }),
  };
}

describe("a list of a repository that answers 502 for ever", () => {
  test("keeps neither its files nor its other lists away from a new connector", async () => {
    const { fail, heal, run, replica, note, pull, remark } = await open();
    fail("pulls/comments");
    for (const mode of ["full", "incremental", "full"] as const) await run(mode);
    expect([...replica.items.keys()]).toEqual(expect.arrayContaining([note, pull]));
    expect(replica.items.has(remark)).toBe(false);
    heal();
    await run("incremental");
    await run("full");
    expect(replica.items.has(remark)).toBe(true);
  });

  test("keeps new files of a known connector away from nobody, and what was read of the list stays", async () => {
    const { fail, heal, run, replica, files, fake, issues, web, note, remark } = await open();
    await run("full");
    for (const list of ["pulls/comments", "issues/comments", "issues"]) {
      fail(list);
      files.push(`${list.replace("/", "-")}.md`, `# Written while ${list} failed`);
      const comment = fake.addComment(web, issues.pull, `Said while ${list} failed.`);
      const { events } = await run("incremental");
      expect(replica.items.has(note.replace("notes", list.replace("/", "-")))).toBe(true);
      expect(events).toContainEqual(expect.objectContaining({ t: "skip", reason: "failed", externalId: `r${web.id}` }));
      await run("full");
      expect(replica.items.has(remark)).toBe(true);
      heal();
      await run("incremental");
      expect(replica.items.has(`${idOf(web, issues.pull)}.c${comment.id}`)).toBe(true);
    }
  });

  test("is told, and its items alone grow old", async () => {
    const { fail, run, web, replica, remark, note } = await open();
    await run("full");
    fail("pulls/comments");
    const { events } = await run("full");
    const end = events.find((event) => event.t === "end");
    expect(end?.notLookedAt).toEqual([{ container: { type: "repository", id: `r${web.id}` }, isRest: true }]);
    expect(replica.named.has(note)).toBe(true);
    expect(replica.named.has(remark)).toBe(false);
  });
});
