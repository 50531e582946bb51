import { test } from "vitest";
import { up } from "#storage/migrations/0043-fallen-roles.ts";
import { makeProviderServer, URL_A } from "../../server/provider-servers/server.ts";
import { runMigration } from "./run.ts";

test("what roles that fell before left behind is judged once, and what admins have stays", async ({ expect }) => {
  const kb = await makeProviderServer({
    servers: { [URL_A]: { seen: [], accepts: ({ authorization }) => authorization === "Bearer good-own" } },
  });
  const { admin, owner } = kb;
  const stays = await kb.addMember(owner.workspaceId, "admin");
  const { id } = await kb.addServer({ auth: { kind: "bearer", secret: "good-own" } });
  const principals: string[] = [];
  for (const who of [admin, stays]) {
    await kb.token(who, ["kb:admin", "mcp:read"]);
    await kb.token(who, ["kb:api", "kb:admin"]);
    const made = await kb.connect(who, id, { credentials: undefined });
    principals.push(`group:connection:${made.json.connection.id}`);
  }
  const { write } = kb.database;
  await write.updateTable("members").set({ role: "member" }).where("userId", "=", admin.userId).execute();
  const { access } = kb.store.in(owner.workspaceId);
  const epoch = await access.epoch();

  await runMigration(kb.database.file, up);
  const tokens = await write.selectFrom("api_tokens").select(["userId", "scopes"]).execute();
  const scopes = (userId: string) => tokens.filter((row) => row.userId === userId).map((row) => row.scopes);
  expect(scopes(admin.userId).sort()).toEqual(["kb:api", "kb:api mcp:read"]);
  expect(scopes(stays.userId).sort()).toEqual(["kb:admin mcp:read", "kb:api kb:admin"]);
  const held = async (userId: string) =>
    (await access.expand([`user:${userId}`])).filter((one) => principals.includes(one));
  expect(await held(admin.userId)).toEqual([]);
  expect(await held(stays.userId)).toEqual([principals[1]]);
  expect(await access.epoch()).toBeGreaterThan(epoch);
});
