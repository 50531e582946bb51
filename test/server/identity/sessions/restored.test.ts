import { expect, test } from "vitest";
import { endSignIns } from "#server/identity/sessions/restored.ts";
import { startServer } from "../oauth/harness.ts";

test("data that was restored signs no one in: sessions, tokens of apps and codes end; a person's own token stays", async () => {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const ask = { clientId: await kb.client(), scope: "mcp:read" };
  const tokens = await kb.letIn(owner, ask);
  const own = await kb.token(owner);
  const sessionStatus = async () => (await kb.as(owner).get("/api/session")).status;
  expect([await sessionStatus(), (await kb.mcp(tokens.access_token)).status]).toEqual([200, 200]);
  await endSignIns({ store: kb.store, clock: kb.clock });
  expect([await sessionStatus(), (await kb.mcp(tokens.access_token)).status]).toEqual([401, 401]);
  expect((await kb.refresh(ask, tokens.refresh_token)).status).toBe(400);
  expect((await kb.mcp(own)).status).toBe(200);
});
