import { readFileSync } from "node:fs";
import { array, assert, asyncProperty, constantFrom, nat, record } from "fast-check";
import { test, vi } from "vitest";
import { runs } from "../../runs.ts";
import { makeOAuthServer } from "./auth-server.ts";

// A shared machine may take its time.
vi.setConfig({ testTimeout: 60_000 + 4_000 * runs(5) });

/** What can happen on the ways to a provider and back, in any order. */
const acts = array(
  record({
    what: constantFrom(
      "signIn",
      "signInAgain",
      "intend",
      "open",
      "comeBack",
      "comeBackElsewhere",
      "refuseThere",
      "confirm",
      "decline",
      "reconnect",
      "use",
      "endTokens",
      "endRefresh",
      "disconnect",
      "leave",
      "deleteServer",
      "wait",
    ),
    who: constantFrom("anna", "ben"),
    /** Who signs in there; the server doesn't tell of everybody. */
    there: constantFrom("first", "second", undefined),
    which: nat(3),
  }),
  { minLength: 10, maxLength: 22 },
);

test("no way back from a provider makes a connection active that no one has proven, or leaves a secret behind", async ({
  expect,
}) => {
  await assert(
    asyncProperty(acts, async (steps) => {
      const kb = await makeOAuthServer();
      const ways = {
        anna: { intent: { redirectUrl: "" }, url: "", cookie: "", location: "" },
        ben: { intent: { redirectUrl: "" }, url: "", cookie: "", location: "" },
      };
      /** Connections that somebody said yes to, or that were signed in to again as the same account. */
      const proven = new Set<string>();
      const accounts = new Map<string, string | null>();
      const gone = new Set<string>();
      const all = () => kb.database.read.selectFrom("connections").selectAll().orderBy("connectionId").execute();
      for (const { what, who, there, which } of steps) {
        const user = kb[who];
        const way = ways[who];
        const rows = await all();
        const one = rows[which % Math.max(1, rows.length)];
        const id = one?.connectionId ?? "cnx_2222222222222222";
        const away = () => kb.there.agree(way.url, there);
        if (what === "signIn" || what === "signInAgain") {
          const { status, json } = await kb.intend(user, what === "signInAgain" ? { reconnect: id } : {});
          if (status === 201) {
            const opened = await kb.open(user, json.intent);
            const location = await kb.back(user, kb.there.agree(opened.url, there), opened.cookie);
            if (location.includes("#found=")) proven.add((await kb.confirm(user, location)).json.connection.id);
            else if (location.includes("status=connected")) {
              expect(one?.accountId).toBe(there);
              proven.add(id);
            }
          }
        }
        if (what === "intend" || what === "reconnect") {
          const { status, json } = await kb.intend(user, what === "reconnect" ? { reconnect: id } : {});
          if (status === 201) way.intent = json.intent;
        }
        if (what === "open") {
          const { status, url, cookie } = await kb.open(user, way.intent);
          if (status === 200) Object.assign(way, { url, cookie });
        }
        if (what === "comeBack" && way.url !== "") {
          way.location = await kb.back(user, away(), way.cookie);
          if (way.location.includes("status=connected")) {
            for (const row of await all())
              if (row.status === "active" && row.accountId === there) proven.add(row.connectionId);
          }
        }
        if (what === "comeBackElsewhere" && way.url !== "") await kb.back(user, away(), "kb_connect=other");
        if (what === "refuseThere" && way.url !== "") {
          const state = new URL(way.url).searchParams.get("state") ?? "";
          await kb.back(user, `/api/mcp-servers/callback?error=access_denied&state=${state}`, way.cookie);
        }
        if (what === "confirm" || what === "decline") {
          const { status, json } = await kb.confirm(user, way.location, what === "confirm");
          if (status === 200 && json.connection !== null) proven.add(json.connection.id);
        }
        const signal = new AbortController().signal;
        const { workspaceId } = kb.owner;
        if (what === "use") {
          await kb.deps.providerSessions.sessionFor(workspaceId, id, { signal }).catch(() => undefined);
        }
        if (what === "endTokens") kb.there.endAccess();
        if (what === "endRefresh") kb.there.endRefresh();
        const byAdmin = kb.as(kb.admin);
        if (what === "disconnect") await byAdmin.delete(`${kb.path}/${id}`);
        if (what === "leave") {
          await byAdmin.delete(`/api/workspace/members/${user.userId}`);
          gone.add(user.userId);
        }
        if (what === "deleteServer") await byAdmin.delete(`/api/mcp-servers/${kb.serverId}`);
        if (what === "wait") {
          kb.clock.advance(11 * 60_000);
          await kb.worker.runUntilIdle();
        }

        const after = await all();
        const secrets = await kb.database.read.selectFrom("connection_secrets").select("connectionId").execute();
        const held = new Set(secrets.map(({ connectionId }) => connectionId));
        for (const { connectionId, status, accountId, ownerUserId } of after) {
          if (status === "active") expect([...proven]).toContain(connectionId);
          if (status !== "active" && status !== "needs_reauth") expect([...held]).not.toContain(connectionId);
          if (gone.has(ownerUserId)) expect(status).toBe("revoked");
          // A connection is one account's for ever.
          const before = accounts.get(connectionId);
          if (before !== undefined) expect(accountId).toBe(before);
          if (status === "active") accounts.set(connectionId, accountId);
          const members = await kb.store.in(workspaceId).access.membersOf(`group:connection:${connectionId}`);
          if (status !== "active") expect(members).toEqual([]);
        }
        for (const connectionId of held) expect(after.map((row) => row.connectionId)).toContain(connectionId);
        if (what === "deleteServer") {
          expect(secrets).toEqual([]);
          await kb.worker.runUntilIdle();
          expect(await kb.database.read.selectFrom("account_flows").selectAll().execute()).toEqual([]);
        }
        expect(await kb.everything()).not.toContain("planted");
      }
      // What nobody has confirmed by now is given back: the provider knows of no tokens but those that are kept.
      kb.clock.advance(11 * 60_000);
      await kb.worker.runUntilIdle();
      await kb.deps.afterwards.idle();
      const kept = await kb.database.read.selectFrom("connection_secrets").select(["connectionId", "sealed"]).execute();
      const { workspaceId } = kb.owner;
      const open = ({ connectionId, sealed }: (typeof kept)[number]) =>
        kb.deps.serverDeps.secrets.open(workspaceId, connectionId, sealed).refreshToken;
      const known = kb.there.holds().filter((token) => token.startsWith("refresh-"));
      expect(kept.map(open)).toEqual(expect.arrayContaining(known));
      const copies = [kb.database.file, `${kb.database.file}-wal`].map((file) => readFileSync(file, "latin1"));
      for (const copy of copies) expect(copy.includes("planted")).toBe(false);
    }),
    { numRuns: runs(5) },
  );
});
