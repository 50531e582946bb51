import { expect, test } from "vitest";
import { up } from "#storage/migrations/0011-closed-groups.ts";
import { makeServer } from "../../helpers.ts";
import { runMigration } from "./run.ts";

test("groups go to who made them, while that person is here and the audit knows it; all are open", async () => {
  const kb = await makeServer();
  const owner = await kb.addOwner();
  const other = await kb.addOwner("Other");
  const [admin, leaver] = [
    await kb.addMember(owner.workspaceId, "admin"),
    await kb.addMember(owner.workspaceId, "admin"),
  ];
  const make = async (user: typeof owner, name: string) =>
    kb.as(user).post("/api/groups", { name, memberIds: [user.userId] });
  await make(owner, "Mine");
  await make(admin, "Theirs");
  await make(leaver, "Left");
  await make(admin, "Forgotten");
  await make(other, "Elsewhere");
  await kb.as(owner).delete(`/api/workspace/members/${leaver.userId}`);
  const { write } = kb.database;
  const [forgotten] = await write.selectFrom("groups").select("groupId").where("name", "=", "Forgotten").execute();
  await write
    .deleteFrom("audit")
    .where("targetId", "=", forgotten?.groupId ?? "")
    .execute();

  await write.schema.dropIndex("audit_by_target").execute();
  for (const column of ["ownerUserId", "isClosed"])
    await write.schema.alterTable("groups").dropColumn(column).execute();
  for (const column of ["resetLinkAt", "resetLinkBy"])
    await write.schema.alterTable("users").dropColumn(column).execute();
  await runMigration(kb.database.file, up);
  const groups = await write.selectFrom("groups").select(["name", "ownerUserId", "isClosed"]).orderBy("name").execute();
  expect(groups).toEqual([
    { name: "Elsewhere", ownerUserId: other.userId, isClosed: 0 },
    { name: "Forgotten", ownerUserId: null, isClosed: 0 },
    { name: "Left", ownerUserId: null, isClosed: 0 },
    { name: "Mine", ownerUserId: owner.userId, isClosed: 0 },
    { name: "Theirs", ownerUserId: admin.userId, isClosed: 0 },
  ]);
  expect((await kb.as(admin).get("/api/session")).json.notices).toEqual([]);
});
