import { describe, test } from "vitest";
import { openReaders, playReaders, readersBody } from "../own-readers.ts";
import { openNotion, paragraph } from "./fixture.ts";
import { TOKEN } from "./server.ts";

// No Notion runs here: a fake of ours answers.
describe("notion in the server", { timeout: 240_000 }, () => {
  test("the readers of the config find what is there, at any time: first, after others read, and after 26 hours", async () => {
    const { world: there, fixture, guide, deep, alone, rows, home, paper } = await openNotion();
    for (let at = 0; at < 30; at++) there.page(`One of many, ${at}`, { page: home.id });
    const said = { id: there.id(), text: "A word about it.", at: there.now() };
    guide.comments.splice(0, 1, said);
    paper.value["file"] = { path: there.upload("paper.txt", "This is about the paper.") };
    const world = await openReaders({
      source: fixture.source,
      connect: async ({ groupId }) => ({ body: { ...readersBody(groupId, {}), credentials: { token: TOKEN } } }),
      list: async () =>
        [...there.pages.values()]
          .filter(({ isTrashed, isShared }) => !isTrashed && isShared)
          .flatMap(({ id }) => (id === guide.id ? [id, `${id}.f${paper.id}`, `${id}.c${said.id}`] : [id])),
      hasParts: true,
      search: "query=about",
    });
    // Notion's clock goes with the server's.
    there.now = () => world.kb.clock.now();
    await playReaders(world, {
      config: {},
      act() {
        guide.blocks.push(paragraph(there, "Other words, as time went on."));
        there.touch(guide);
        there.page("Since", { page: home.id });
        deep.where = { page: alone.id };
        for (const row of rows.slice(0, 1)) row.isTrashed = true;
        for (const page of [...there.pages.values()].slice(-3, -1)) page.isShared = false;
      },
    });
  });
});
