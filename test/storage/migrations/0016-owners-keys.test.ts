import { expect, test } from "vitest";
import { up } from "#storage/migrations/0016-owners-keys.ts";
import { makePushServer } from "../../server/connectors/push-harness.ts";
import { pushed } from "../../server/connectors/server.ts";
import { runMigration } from "./run.ts";

test("a key that someone else than the owner made ends; the owner's own keys live on", async () => {
  const kb = await makePushServer();
  const make = async () =>
    (
      await kb
        .as(kb.owner)
        .post("/api/connectors", { providerId: "push", name: "Other", access: { visibility: "workspace" } })
    ).json.connector.id as string;
  const [rotated, ended] = [await make(), await make()];
  const { write } = kb.database;
  const keyOf = (connectorId: string) => write.updateTable("connector_keys").where("connectorId", "=", connectorId);
  await keyOf(rotated).set({ createdBy: kb.admin.userId }).execute();
  await keyOf(ended).set({ createdBy: kb.admin.userId, revokedAt: 5 }).execute();

  await write.schema.alterTable("users").dropColumn("passwordSetAt").execute();
  await runMigration(kb.database.file, up);
  const seen = async (id: string) => (await kb.as(kb.owner).get(`/api/connectors/${id}`)).json.connector;
  expect(await seen(rotated)).toMatchObject({
    hasKey: false,
    stateReason: expect.stringContaining("owner makes the new one"),
  });
  expect(await seen(ended)).toMatchObject({ hasKey: false, stateReason: null });
  expect(await seen(kb.id)).toMatchObject({ hasKey: true, stateReason: null });
  expect(await kb.results([pushed("a")])).toEqual(["upserted"]);
  const left = await write.selectFrom("connector_keys").select("revokedAt").where("connectorId", "=", ended).execute();
  expect(left).toEqual([{ revokedAt: 5 }]);
});
