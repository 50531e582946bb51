import { Kysely } from "kysely";
import { onTestFinished, test } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { makeLocalDialect } from "#storage/dialect.ts";
import { up } from "#storage/migrations/0008-own-access.ts";
import { openWriter } from "#storage/sqlite.ts";
import { CONNECTOR, end, item, makeHarness, upsert, WORKSPACE } from "../../server/sync/harness.ts";

test("children stored before they had an access of their own are no one's until they are told again", async ({
  expect,
}) => {
  const child = (id: string, partOf: string) => {
    const { access: _none, ...rest } = item(id, "word");
    return { t: "upsert", item: { ...rest, partOf } } as const;
  };
  const events = () => [upsert("parent", "word"), child("child", "parent"), upsert("plain", "word"), end()];
  const kb = await makeHarness(events);
  const { itemWrites } = kb.store.in(WORKSPACE);
  await kb.sync();
  // What the engine makes of files, as its rows are.
  const connection = openWriter(kb.database.file, "normal");
  for (const id of ["child", "parent"]) {
    connection.raw.exec(`create temp table copied as select * from items where "externalId" = '${id}'`);
    connection.raw.exec(
      `update copied set "externalId" = '${id}!//part', "kbId" = 'kbi_${id}', "parentExternalId" = '${id}'`,
    );
    connection.raw.exec("insert into items select * from copied; drop table copied");
  }
  onTestFinished(() => connection.close());
  connection.raw.exec("drop index items_by_own_access");
  connection.raw.exec("alter table items drop column ownAclId");
  await up(new Kysely<unknown>({ dialect: makeLocalDialect(() => connection, 1) }));

  const state = async () =>
    Object.fromEntries(
      (await kb.items()).map((row) => [row.externalId, [row.aclId > 0, row.version !== null, row.indexState]]),
    );
  const found = async () => {
    const pool = makeSearchPool({ file: kb.database.file, size: 0 });
    const principals = ["workspace", `group:connector:${CONNECTOR}`];
    const viewer = { principals, epoch: 1 };
    const request = {
      workspaceId: WORKSPACE,
      viewer,
      query: "word",
      filters: {},
      order: "relevance",
      limit: 9,
    } as const;
    const { total } = await pool.search(request);
    await pool.close();
    return total;
  };
  const open = [true, true, "indexed"];
  expect(await state()).toEqual({
    parent: open,
    "parent!//part": open,
    plain: open,
    child: [false, false, "unsearchable"],
    "child!//part": [false, true, "unsearchable"],
  });
  expect(await found()).toBe(2);
  expect(await itemWrites.countHiddenChildren(CONNECTOR)).toEqual({ parentMissing: 0, awaitingPush: 1 });
  await kb.sync("full");
  expect(await state()).toMatchObject({ parent: open, plain: open, child: open });
  expect(await found()).toBe(3);
  expect(await itemWrites.countHiddenChildren(CONNECTOR)).toEqual({ parentMissing: 0, awaitingPush: 0 });
});
