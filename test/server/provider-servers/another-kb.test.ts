import { onTestFinished, test } from "vitest";
import { makeAddressGuard } from "#net/address-guard.ts";
import { makeMcpOpener } from "#server/compose/provider-servers.ts";
import { listen } from "#server/listen.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { makeProviderServer } from "./server.ts";

test("another kb is a provider server: tested, connected with a token of one's own, and lost with it", async ({
  expect,
}) => {
  const other = await makeServer({ settings: { rateLimits: "off" } }, composeFeatures);
  const listener = await listen(other.app.fetch, "127.0.0.1", 0, other.log);
  onTestFinished(async () => void (await listener.close(0)));
  const there = await other.addOwner();
  const token = await other.token(there);
  const host = `127.0.0.1:${listener.port}`;
  const guard = makeAddressGuard({ lookup: async () => [], privateHosts: [host], isOwn: () => false });
  const kb = await makeProviderServer({ openMcp: makeMcpOpener({ guard, instanceId: "here" }) });
  const url = `http://${host}/mcp`;

  const tryIt = async (auth: object, at = url) =>
    (await kb.as(kb.admin).post("/api/mcp-servers/connection-tests", { url: at, auth })).json;
  expect(await tryIt({ kind: "bearer" })).toMatchObject({ ok: true, authRequired: { scopes: ["mcp:read"] } });
  expect(await tryIt({ kind: "bearer", secret: "kb_pat_wrong" })).toMatchObject({
    ok: false,
    steps: [{ step: "auth", ok: false, problem: { code: "auth_required" } }],
  });
  expect(await tryIt({ kind: "none" }, "http://127.0.0.1:9/mcp")).toMatchObject({
    ok: false,
    steps: [{ ok: false, problem: { code: "address_not_allowed" } }],
  });

  const { id } = await kb.addServer({ url });
  const made = await kb.connect(kb.anna, id, { credentials: { token } });
  expect(made.json.connection).toMatchObject({ status: "active" });
  const wish = { signal: new AbortController().signal } as const;
  const session = await kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, made.json.connection.id, wish);
  expect((await session.listTools()).items.map(({ name }) => name)).toContain("kb_search");
  await session.close();

  const [first] = (await other.as(there).get("/api/api-tokens")).json.tokens;
  await other.as(there).request("DELETE", `/api/api-tokens/${first.id}`);
  await expect(
    kb.deps.providerSessions.sessionFor(kb.owner.workspaceId, made.json.connection.id, wish),
  ).rejects.toMatchObject({ code: "auth_required" });
  expect((await kb.connectionsOf(kb.anna, id))[0]).toMatchObject({ status: "needs_reauth", statusReason: "refused" });
});
