import { test } from "vitest";
import { applyOps } from "#server/connectors/stored.ts";
import { makePushServer } from "./push-harness.ts";
import { pushed } from "./server.ts";

const CONNECTION = "cnx_2222222222222222";

test("what is stored outside a run belongs to the connector's connection too", async ({ expect }) => {
  const kb = await makePushServer();
  const { connectorDeps } = kb.deps;
  const { workspaceId } = kb.owner;
  await kb.database.write.updateTable("connectors").set({ connectionId: CONNECTION }).execute();
  const listsOfAll = async () => {
    const items = await kb.database.read.selectFrom("items").select("aclId").execute();
    return Promise.all(items.map(({ aclId }) => kb.store.in(workspaceId).access.listsOf(aclId)));
  };
  await kb.push([pushed("T-1")]);
  expect((await listsOfAll()).map((lists) => lists.flat())).toEqual([
    expect.arrayContaining([`group:connection:${CONNECTION}`]),
  ]);
  const access = { known: true, all: [["everyone"]] } as const;
  await applyOps(connectorDeps, workspaceId, kb.id, [{ type: "access", externalId: "T-1", access }]);
  expect((await listsOfAll()).map((lists) => lists.flat())).toEqual([
    expect.arrayContaining(["everyone", `group:connection:${CONNECTION}`]),
  ]);
});
