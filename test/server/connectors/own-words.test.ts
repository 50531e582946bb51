import { expect, test } from "vitest";
import type { Actor } from "#storage/access/actor.ts";
import { toSync } from "#server/connectors/view.ts";
import { makeConnectorServer } from "./server.ts";

const MISSING = {
  externalId: "nope",
  reason: "failed",
  message: "The app does not see nope.",
  retryable: true,
} as const;
const FAILED = {
  externalId: "C2",
  reason: "failed",
  message: "The canary can't be read now.",
  retryable: true,
} as const;
const OTHER = { externalId: "C3", reason: "failed", message: "The canary of C3 fails.", retryable: true } as const;

/** What somebody sees of a run of a connector whose config names two channels, and that left out three. */
async function see(isOwner: boolean) {
  const kb = await makeConnectorServer();
  const made = await kb.as(kb.admin).post("/api/connectors", {
    providerId: "folder",
    name: "Docs",
    config: { root: "/srv/docs" },
    access: { visibility: "private" },
  });
  await kb.worker.runUntilIdle();
  const workspace = kb.store.in(kb.owner.workspaceId);
  const connectorId: string = made.json.connector.id;
  const record = (await workspace.syncs.list(connectorId, 1))[0] ?? expect.unreachable();
  const stored = (await workspace.connectors.find(connectorId)) ?? expect.unreachable();
  const connector = { ...stored, config: { channels: ["nope", "C2"], name: "C3" } };
  const { userId, workspaceId, role } = isOwner ? kb.admin : kb.owner;
  const credential = { type: "session", id: "ses_aaaaaaaaaaaaaaaa" } as const;
  const actor: Actor = { userId, workspaceId, role, scopes: ["kb:admin"], credential, timeZone: "UTC" };
  const sync = await toSync(workspace, kb.deps.policy, actor, connector, record, {
    skips: [MISSING, FAILED, OTHER],
    isTold: false,
  });
  return sync.skips;
}

test("the owner is told what of the connector's own config can't be read, and no word of the source besides", async () => {
  expect(await see(true)).toEqual([
    MISSING,
    { ...FAILED, message: null },
    { ...OTHER, externalId: null, message: null },
  ]);
});

test("no one else is", async () => {
  expect(JSON.stringify(await see(false))).not.toMatch(/nope|C2|C3|canary/);
});
