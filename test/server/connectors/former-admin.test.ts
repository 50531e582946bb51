import { test } from "vitest";
import { FOLDER, makeConnectorServer } from "./server.ts";

test("a former admin chooses nothing of a connector that only admins can make, and gets it back with the role", async ({
  expect,
}) => {
  const kb = await makeConnectorServer();
  const me = kb.as(kb.admin);
  const scope = { include: [], exclude: ["b"] };
  const made = await me.post("/api/connectors", { ...FOLDER, scope, access: { visibility: "private" } });
  const at = `/api/connectors/${made.json.connector.id}`;
  await kb.worker.runUntilIdle();
  const setRole = (role: string) => kb.as(kb.owner).patch(`/api/workspace/members/${kb.admin.userId}`, { role });
  const acts = {
    config: () => me.patch(at, { config: FOLDER.config }),
    widerScope: () => me.patch(`${at}/scope`, { include: [], exclude: [] }),
    otherScope: () => me.patch(`${at}/scope`, { include: ["b"], exclude: [] }),
    browse: () => me.post(`${at}/browse`, {}),
    create: () => me.post("/api/connectors", { ...FOLDER, name: "More", access: { visibility: "private" } }),
  };
  await setRole("member");
  for (const [name, act] of Object.entries(acts)) expect([name, (await act()).status]).toEqual([name, 403]);
  await kb.worker.runUntilIdle();
  expect((await me.get("/api/connectors/search?query=beta")).json.total).toBe(0);
  // It stays theirs, to stop and to delete.
  expect((await me.post(`${at}/pause`)).status).toBe(200);
  await setRole("admin");
  expect((await acts.widerScope()).status).toBe(202);
});
