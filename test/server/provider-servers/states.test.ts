import { array, assert, asyncProperty, constantFrom, nat, record } from "fast-check";
import { test, vi } from "vitest";
import type { TestUser } from "../../helpers.ts";
import { runs } from "../../runs.ts";
import { makeProviderServer, URL_A } from "./server.ts";

// A shared machine may take its time.
vi.setConfig({ testTimeout: 60_000 + 4_000 * runs(5) });

/** What can happen to servers, connections and people, in any order. */
const acts = array(
  record({
    what: constantFrom(
      "connect",
      "connectWrongly",
      "use",
      "refuse",
      "accept",
      "share",
      "disconnect",
      "turnOff",
      "turnOn",
      "leave",
      "deleteServer",
      "wait",
    ),
    who: constantFrom("anna", "ben"),
    which: nat(3),
  }),
  { minLength: 6, maxLength: 14 },
);

test("no order of events makes a connection active that its server did not accept, or leaves a secret behind", async ({
  expect,
}) => {
  await assert(
    asyncProperty(acts, async (steps) => {
      const kb = await makeProviderServer();
      const { id } = await kb.addServer();
      const world = kb.servers[URL_A];
      if (!world) throw new Error("There is such a server.");
      const accepts = world.accepts;
      const gone = new Set<string>();
      const all = () => kb.database.read.selectFrom("connections").selectAll().orderBy("connectionId").execute();
      for (const { what, who, which } of steps) {
        const user: TestUser = kb[who];
        const rows = await all();
        const one = rows[which % Math.max(1, rows.length)];
        const at = `/api/mcp-servers/${id}`;
        const of = `${at}/connections/${one?.connectionId ?? "cnx_2222222222222222"}`;
        const byAdmin = kb.as(kb.admin);
        const signal = new AbortController().signal;
        if (what === "connect") await kb.connect(user, id, { credentials: { token: "good-planted" } });
        if (what === "connectWrongly") await kb.connect(user, id, { credentials: { token: "wrong-planted" } });
        if (what === "use" && one) {
          const { workspaceId } = kb.owner;
          await kb.deps.providerSessions.sessionFor(workspaceId, one.connectionId, { signal }).catch(() => undefined);
        }
        if (what === "refuse") world.accepts = () => false;
        if (what === "accept" && accepts) world.accepts = accepts;
        if (what === "share") await kb.as(user).request("PATCH", `${of}/access`, { body: { visibility: "workspace" } });
        if (what === "disconnect") await byAdmin.request("DELETE", of);
        if (what === "turnOff") await byAdmin.request("PATCH", at, { body: { enabled: false } });
        if (what === "turnOn") await byAdmin.request("PATCH", at, { body: { enabled: true } });
        if (what === "leave") {
          await byAdmin.request("DELETE", `/api/workspace/members/${user.userId}`);
          gone.add(user.userId);
        }
        if (what === "deleteServer") await byAdmin.request("DELETE", at);
        if (what === "wait") {
          kb.clock.advance(60 * 60_000);
          await kb.worker.runUntilIdle();
        }

        const after = await all();
        const secrets = await kb.database.read.selectFrom("connection_secrets").select("connectionId").execute();
        const held = new Set(secrets.map(({ connectionId }) => connectionId));
        for (const { connectionId, status, ownerUserId } of after) {
          if (status === "active") expect(held).toContain(connectionId);
          if (status === "revoked" || gone.has(ownerUserId)) {
            expect(held).not.toContain(connectionId);
            expect(status).toBe("revoked");
          }
          const members = await kb.store.in(kb.owner.workspaceId).access.membersOf(`group:connection:${connectionId}`);
          if (status !== "active") expect(members).toEqual([]);
        }
        for (const connectionId of held) expect(after.map((row) => row.connectionId)).toContain(connectionId);
        const accepted = world.seen.filter(({ authorization }) => authorization === "Bearer good-planted").length;
        const isActive = after.some(({ status }) => status === "active");
        expect(isActive && accepted === 0).toBe(false);
        expect(await kb.everything()).not.toContain("planted");
      }
    }),
    { numRuns: runs(6) },
  );
});
