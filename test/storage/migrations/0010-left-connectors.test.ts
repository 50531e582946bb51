import { expect, test } from "vitest";
import { up } from "#storage/migrations/0010-left-connectors.ts";
import { makeConnectorServer } from "../../server/connectors/server.ts";
import { runMigration } from "./run.ts";

test("credentials of people who left are deleted; their own connectors wait for an owner, others' for credentials", async () => {
  const kb = await makeConnectorServer();
  const { write } = kb.database;
  const make = async (name: string) => {
    const body = { providerId: "push", name, access: { visibility: "workspace" } };
    return (await kb.as(kb.owner).post("/api/connectors", body)).json.connector.id as string;
  };
  const { workspaceId, userId } = kb.owner;
  const change = (connectorId: string, values: object) =>
    write.updateTable("connectors").set(values).where("connectorId", "=", connectorId).execute();
  const give = (connectorId: string, givenBy: string) =>
    write
      .insertInto("connector_credentials")
      .values({ workspaceId, connectorId, givenBy, sealed: "x", givenAt: 1 })
      .execute();
  const ids: Record<string, string> = {};
  for (const name of [
    "mine",
    "givenByLeaver",
    "pausedGiven",
    "ofLeaver",
    "onAccount",
    "withoutCredentials",
    "deleting",
  ]) {
    ids[name] = await make(name);
  }
  const id = (name: string) => ids[name] ?? "";
  await give(id("mine"), userId);
  for (const name of ["givenByLeaver", "pausedGiven", "ofLeaver", "deleting"]) await give(id(name), "usr_left");
  await change(id("pausedGiven"), { state: "paused" });
  for (const name of ["ofLeaver", "onAccount", "withoutCredentials"])
    await change(id(name), { ownerUserId: "usr_left" });
  await change(id("onAccount"), { accountId: "acc_1" });
  await change(id("deleting"), { ownerUserId: "usr_left", state: "deleting" });

  await runMigration(kb.database.file, up);
  const rows = await write.selectFrom("connectors").select(["name", "state"]).execute();
  expect(Object.fromEntries(rows.map(({ name, state }) => [name, state]))).toMatchObject({
    mine: "active",
    givenByLeaver: "needs_reauth",
    pausedGiven: "paused",
    ofLeaver: "needs_owner",
    onAccount: "needs_owner",
    withoutCredentials: "active",
    deleting: "deleting",
  });
  const left = await write.selectFrom("connector_credentials").select(["connectorId", "givenBy"]).execute();
  expect(left).toEqual([{ connectorId: id("mine"), givenBy: userId }]);
});
