import { test } from "vitest";
import { BASE_URL, makeForge, openTo, person, WHOLE } from "./forge.ts";

const HOUR_MS = 3_600_000;

test("a user whom an instance knows by two ids reads by either, until it says that they are two", async ({
  expect,
}) => {
  const world = { isSame: true };
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ user, group }) => [
        openTo("by id", user("1")),
        openTo("by name", user("ann")),
        openTo("by group", group("team")),
        openTo("of another", user("2")),
      ],
      people: ({ user, group }) => [
        { ...person(user("1"), "ann@acme.test"), ...(world.isSame && { sameAs: [user("ann")] }) },
        { t: "group", group: group("team"), members: [user("ann")] },
        WHOLE,
      ],
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  await kb.connect(kb.owner);
  expect(await kb.readable(ann)).toEqual(["by group", "by id", "by name"]);
  expect(await kb.readable(kb.owner)).toEqual([]);
  world.isSame = false;
  await kb.pass(HOUR_MS);
  expect(await kb.readable(ann)).toEqual(["by id"]);
});
