import { expect, test } from "vitest";
import { up } from "#storage/migrations/0041-owners-acts.ts";
import { sql } from "kysely";
import { makeConnectorServer } from "../../server/connectors/server.ts";
import { runMigration } from "./run.ts";

test("a connector whose owner left waits for one, and who paused one is known from the audit", async () => {
  const kb = await makeConnectorServer();
  const { write } = kb.database;
  const make = async (name: string, providerId = "folder") => {
    const config = providerId === "folder" ? { root: "/srv/docs" } : {};
    const body = { providerId, name, config, access: { visibility: "workspace" } };
    return (await kb.as(kb.owner).post("/api/connectors", body)).json.connector.id as string;
  };
  const ids = new Map<string, string>();
  for (const name of ["mine", "paused", "left", "leftPaused"]) ids.set(name, await make(name));
  ids.set("pushed", await make("pushed", "push"));
  const id = (name: string) => ids.get(name) ?? "";
  await kb.as(kb.admin).post(`/api/connectors/${id("paused")}/pause`);
  // As they were before.
  await sql`drop index items_read_elsewhere`.execute(write);
  await sql`alter table items drop column "readElsewhere"`.execute(write);
  await sql`alter table connectors drop column "pausedBy"`.execute(write);
  await sql`alter table connectors drop column "withheldAt"`.execute(write);
  for (const name of ["left", "leftPaused", "pushed"]) {
    await write
      .updateTable("connectors")
      .set({ ownerUserId: "usr_left", ...(name === "leftPaused" && { state: "paused" }) })
      .where("connectorId", "=", id(name))
      .execute();
  }
  await runMigration(kb.database.file, up);
  const rows = await write.selectFrom("connectors").select(["name", "state", "pausedBy", "nextRunAt"]).execute();
  const states = Object.fromEntries(rows.map(({ name, state, pausedBy }) => [name, [state, pausedBy]]));
  expect(states).toEqual({
    mine: ["active", null],
    paused: ["paused", kb.admin.userId],
    left: ["needs_owner", null],
    leftPaused: ["needs_owner", null],
    // A key of it may be somebody else's.
    pushed: ["active", null],
  });
});
