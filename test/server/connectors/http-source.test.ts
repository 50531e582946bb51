import { describe, expect, test } from "vitest";
import { z } from "zod";
import { makeAddressGuard } from "#net/address-guard.ts";
import type { AuthWay } from "#sources/http-contract.ts";
import type { Source } from "#sources/contract.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { say, SECRET, serve, type Answer } from "../../sources/http/fixture.ts";
import { fakeExtractor, item } from "../sync/harness.ts";

const WAYS: readonly AuthWay[] = [{ type: "credentials", scheme: "bearer", token: "token" }];

/** A server with a source that reads over HTTP, and what that reads from: on a port that the operator has listed. */
async function makeWorld(answer: Answer = say(200, "text"), ways = WAYS) {
  const remote = await serve(answer);
  const unlisted = await serve(say(200));
  const world = { warnings: undefined as string[] | undefined, field: "credentials" };
  const source: Source<{ url: string; files?: string | undefined }> = {
    spec: {
      providerId: "wiki",
      name: "Wiki",
      kinds: ["page"],
      auth: ways,
      origins: ["{+files}"],
      config: z.strictObject({ url: z.url(), files: z.url().optional() }),
      credentials: z.strictObject({ token: z.string().min(3) }),
      acl: "connector",
    },
    async check({ http, config }) {
      const { status } = await http.request({ url: config.url, auth: true, allow: [401] });
      if (status === 200) return { ok: true, ...(world.warnings && { warnings: world.warnings }) };
      return { ok: false, problem: { code: "auth_required", message: "The wiki says no.", field: world.field } };
    },
    sessions: scripted(async function* ({ http, config }) {
      const page = await http.request({ url: config.url, auth: true });
      yield { t: "upsert", item: item("a", page.text()) };
      yield { t: "checkpoint", cursor: null };
      yield { t: "end", listing: "complete", permissions: "current" };
    }),
    originOf: ({ url }) => new URL(url).origin,
  };
  const sources = { find: async () => source as Source, list: async () => [source as Source] };
  const addressGuard = makeAddressGuard({
    privateHosts: [`127.0.0.1:${remote.port}`],
    isOwn: () => false,
    lookup: async () => [],
  });
  const kb = await makeServer({ addressGuard }, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
  );
  const owner = await kb.addOwner();
  const member = await kb.addMember(owner.workspaceId, "member");
  const body = {
    providerId: "wiki",
    name: "Wiki",
    config: { url: remote.origin },
    credentials: { token: SECRET },
    access: { visibility: "private" },
  };
  return { kb, worker: kb.deps.worker, remote, unlisted, world, owner: kb.as(owner), member: kb.as(member), body };
}

describe("a connector over HTTP", () => {
  test("of a member reaches what the operator has listed, and nothing else that is private", async () => {
    const { member, body, remote, unlisted, worker } = await makeWorld();
    const made = await member.post("/api/connectors", body);
    expect(made.status).toBe(201);
    await worker.runUntilIdle();
    const { connector } = (await member.get(`/api/connectors/${made.json.connector.id}`)).json;
    expect([connector.state, connector.counts.indexed]).toEqual(["active", 1]);
    // One connection for the check and the sync.
    expect([remote.authorizations(), remote.connections()]).toEqual([[`Bearer ${SECRET}`, `Bearer ${SECRET}`], 1]);
    const refused = await member.post("/api/connectors", { ...body, config: { url: unlisted.origin } });
    expect([refused.status, refused.json.code, unlisted.connections()]).toEqual([422, "address_not_allowed", 0]);
  });

  test("tells what its source warns of when it is made and changed", async () => {
    const { owner, body, world } = await makeWorld();
    expect((await owner.post("/api/connectors", body)).json).not.toHaveProperty("warnings");
    world.warnings = [`The wiki is empty. token=${SECRET}`];
    const made = await owner.post("/api/connectors", body);
    expect(made.json.warnings).toEqual(["The wiki is empty. token=…"]);
    const path = `/api/connectors/${made.json.connector.id}`;
    expect((await owner.patch(path, { credentials: { token: "another" } })).json.warnings).toEqual(made.json.warnings);
    expect((await owner.patch(path, { name: "Other" })).json).not.toHaveProperty("warnings");
  });

  test.each([
    ["credentials", "credentials"],
    ["credentials.token", "credentials.token"],
    ["config.url", "config.url"],
    ["url", "config.url"],
    ["credentialsFile", "config.credentialsFile"],
  ])("names a problem with %s as %s", async (field, shown) => {
    const { owner, body, world } = await makeWorld(say(401));
    world.field = field;
    const { status, json } = await owner.post("/api/connectors", body);
    expect([status, json.code, json.field]).toEqual([422, "connector_check_failed", shown]);
  });

  test("can't be made without credentials that its source needs, nor by a member where it answers everyone", async () => {
    const needed = await makeWorld();
    const { credentials: _none, ...without } = needed.body;
    const { status, json } = await needed.owner.post("/api/connectors", without);
    expect([status, json.code, json.field]).toEqual([422, "connector_config_invalid", "credentials"]);
    const free = await makeWorld(say(200, "text"), [{ type: "none" }, ...WAYS]);
    const open = { ...without, config: { url: free.remote.origin } };
    expect((await free.member.post("/api/connectors", open)).status).toBe(403);
    expect((await free.owner.post("/api/connectors", open)).status).toBe(201);
    const [kind] = (await free.owner.get("/api/connectors/sources")).json.sources;
    expect([kind.auth, kind.authTypes]).toEqual(["credentials", ["none", "credentials"]]);
  });

  test("keeps its credentials from an origin that a new config adds", async () => {
    const { owner, body, remote } = await makeWorld();
    const { id } = (await owner.post("/api/connectors", body)).json.connector;
    const config = { url: remote.origin, files: "https://files.evil.test" };
    expect((await owner.patch(`/api/connectors/${id}`, { config })).json.code).toBe("credential_required");
    expect((await owner.patch(`/api/connectors/${id}`, { config, credentials: body.credentials })).status).toBe(200);
  });

  test("whose credentials are refused later waits for new ones; a limit makes its run wait", async () => {
    const answers: Answer[] = [say(200), say(401), say(200), say(429, "", { "retry-after": "3600" })];
    const { owner, body, worker, kb } = await makeWorld((got, response) => answers.shift()?.(got, response));
    const { id } = (await owner.post("/api/connectors", body)).json.connector;
    await worker.runUntilIdle();
    const stopped = (await owner.get(`/api/connectors/${id}`)).json.connector;
    expect([stopped.state, stopped.stateReason]).toEqual(["needs_reauth", expect.stringContaining("(HTTP 401)")]);
    await owner.patch(`/api/connectors/${id}`, { credentials: { token: "another" } });
    await worker.runUntilIdle();
    const { syncs } = (await owner.get(`/api/connectors/${id}/syncs`)).json;
    const ends = syncs.map((run: { state: string; problem: { code: string } }) => `${run.state} ${run.problem.code}`);
    // Both began at the same time of the test's clock.
    expect(ends.toSorted()).toEqual(["failed auth_required", "waiting rate_limited"]);
    expect(JSON.stringify(kb.log.lines)).not.toContain(SECRET);
  });
});
