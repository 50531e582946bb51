import { test } from "vitest";
import { BASE_URL, type ForgeWorld, makeForge, openTo, WHOLE } from "./forge.ts";

test("readers that the config names are others at once, and no item is read again", async ({ expect }) => {
  let readers: string[] = [];
  const forge: ForgeWorld = {
    items: ({ group }) => [openTo("plan", group("readers"))],
    people: ({ group }) => [{ t: "group", group: group("readers"), members: readers }, WHOLE],
  };
  const kb = await makeForge({ [BASE_URL]: forge, "https://other.test": forge });
  const connectorId = await kb.connect(kb.owner);
  const versions = () => kb.database.read.selectFrom("items").select(["externalId", "version"]).execute();
  const stored = await versions();
  expect(await kb.readable(kb.owner)).toEqual([]);

  readers = ["workspace"];
  const change = (config: object, more: object = {}) =>
    kb.as(kb.owner).patch(`/api/connectors/${connectorId}`, { config, ...more });
  await change({ url: BASE_URL, readers });
  expect(await versions()).toEqual(stored);
  await kb.work();
  expect(await kb.readable(kb.owner)).toEqual(["plan"]);

  readers = [];
  await change({ url: BASE_URL, readers: ["grp_2222222222222222"] });
  await kb.work();
  expect(await kb.readable(kb.owner)).toEqual([]);

  // Anything else makes other items of the same things.
  await change({ url: "https://other.test", readers: ["workspace"] }, { credentials: { token: "t" } });
  expect(await versions()).toEqual(stored.map((item) => ({ ...item, version: null })));
});
