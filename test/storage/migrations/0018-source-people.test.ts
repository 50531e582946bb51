import { expect, test } from "vitest";
import { sql } from "kysely";
import { up } from "#storage/migrations/0018-source-people.ts";
import { up as letGroupsLast } from "#storage/migrations/0025-lasting-groups.ts";
import { makeServer } from "../../helpers.ts";
import { runMigration } from "./run.ts";

const TABLES = [
  "source_groups",
  "identities",
  "identity_aliases",
  "identity_joins",
  "former_addresses",
  "people_feeds",
] as const;

test("memberships stay as they are, and the addresses of former members are remembered", async () => {
  const kb = await makeServer();
  const owner = await kb.addOwner();
  const [stays, leaves] = [await kb.addMember(owner.workspaceId), await kb.addMember(owner.workspaceId)];
  await kb.as(owner).post("/api/groups", { name: "Mine", memberIds: [owner.userId, stays.userId] });
  await kb.as(owner).delete(`/api/workspace/members/${leaves.userId}`);
  const { write } = kb.database;
  const { access } = kb.store.in(owner.workspaceId);
  await access.setMembers("group:con_aaaaaaaaaaaaaaaa:team", [`user:${stays.userId}`], "con_aaaaaaaaaaaaaaaa");
  const memberships = () =>
    write.selectFrom("memberships").selectAll().orderBy("groupPrincipal").orderBy("memberPrincipal").execute();
  const before = await memberships();
  expect(before.length).toBeGreaterThan(2);

  for (const table of TABLES) await write.schema.dropTable(table).execute();
  await sql`create table former as select * from memberships`.execute(write);
  await write.schema.dropTable("memberships").execute();
  await sql`alter table former rename to memberships`.execute(write);
  await sql`create index memberships_by_member on memberships ("workspaceId", "memberPrincipal")`.execute(write);
  await runMigration(kb.database.file, up);
  // What reads memberships asks a column of a later one.
  await runMigration(kb.database.file, letGroupsLast);

  expect(await memberships()).toEqual(before);
  expect(await access.expand([`user:${stays.userId}`])).toContain("group:con_aaaaaaaaaaaaaaaa:team");
  const former = await write.selectFrom("former_addresses").selectAll().execute();
  expect(former.map(({ userId, hasLeft }) => ({ userId, hasLeft }))).toEqual([{ userId: leaves.userId, hasLeft: 1 }]);
});
