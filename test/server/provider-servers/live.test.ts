import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Sleep } from "#core/clock.ts";
import type { McpSession, McpTool } from "#mcp-client/contract.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import { addLive } from "#server/mcp/render-live.ts";
import { renderSearch } from "#server/mcp/render-search.ts";
import { countTokens as count } from "#server/mcp/tokens.ts";
import { makeLiveSearch } from "#server/provider-servers/live.ts";
import { makeProviderSessions } from "#server/provider-servers/sessions.ts";
import type { Actor } from "#storage/access/actor.ts";
import { hostileOutcome } from "../mcp/hostile.ts";
import { untilAborted } from "../sync/harness.ts";
import { hostileText } from "../../api/hostile-text.ts";
import { runs } from "../../runs.ts";
import { makeTestLog, type TestUser } from "../../helpers.ts";
import { type FakeMcp, makeProviderServer, URL_A } from "./server.ts";

function tool(name: string, argument: string, pin = "1"): McpTool {
  const inputSchema = { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] };
  return { name, inputSchema, isReadOnly: true, pin };
}

const MAPPING = { search: { tool: "find", argument: "words" }, fetch: { tool: "read", argument: "id" } };

/** A server of notes whose `find` and `read` know each person's own by their token. */
function notesServer(over: Partial<FakeMcp> = {}): FakeMcp & { calls: string[] } {
  const calls: string[] = [];
  return {
    seen: [],
    calls,
    tools: [tool("find", "words"), tool("read", "id")],
    accepts: ({ authorization }) => authorization?.startsWith("Bearer good") === true,
    call(name, args, { authorization = "" }) {
      calls.push(name);
      const who = authorization.replace("Bearer good-", "");
      if (name === "read") return { isError: false, content: [{ type: "text", text: `The alpha text of ${who}.` }] };
      const results = [
        { id: "1", title: `Alpha of ${who}`, url: "https://notes.test/1", updatedAt: "2026-11-20T08:00:00Z" },
        { id: "2", title: "Second", text: `told ${String(args["words"])} by ${who}` },
      ];
      return { isError: false, content: [], structured: { results } };
    },
    ...over,
  };
}

async function makeWorld(server: FakeMcp = notesServer()) {
  const kb = await makeProviderServer({ servers: { [URL_A]: server } });
  const { id } = await kb.addServer();
  const map = async () => {
    const set = await kb
      .as(kb.admin)
      .request("PUT", `/api/mcp-servers/${id}/mapping`, { body: { mapping: MAPPING, connectionId } });
    if (set.status !== 200) throw new Error(set.text);
  };
  const own = await kb.connect(kb.admin, id);
  const connectionId = own.json.connection.id as string;
  await map();
  const search = async (user: TestUser, more = "") =>
    (await kb.as(user).get(`/api/connectors/search?query=alpha${more}`)).json;
  const call = async (user: TestUser, args: object) => {
    const answer = await kb.withToken(await kb.token(user)).request("POST", "/mcp", {
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "kb_search", arguments: args } },
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" },
    });
    return answer.json.result as { content: { text: string }[]; structuredContent: Record<string, unknown> };
  };
  return { ...kb, id, map, search, call };
}

test("hits of one's own connections stand beside the same indexed answer, and nothing of anyone else's does", async () => {
  const server = notesServer();
  const kb = await makeWorld(server);
  const { anna, ben, owner } = kb;
  const connected = await kb.connect(anna, kb.id);
  await kb.connect(ben, kb.id);
  const access = { visibility: "workspace" };
  const at = `/api/mcp-servers/${kb.id}/connections/${connected.json.connection.id}`;
  await kb.as(anna).request("PATCH", `${at}/access`, { body: access });
  const body = { providerId: "behind", name: "B", config: {}, connectionId: connected.json.connection.id, access };
  expect((await kb.as(anna).post("/api/connectors", body)).status).toBe(201);
  await kb.worker.runUntilIdle();

  const plain = await kb.search(anna);
  const { live, ...indexed } = await kb.search(anna, "&live=true");
  expect(plain.total).toBe(1);
  expect(indexed).toEqual(plain);
  expect(plain).not.toHaveProperty("live");
  expect(live).toEqual({
    hits: [
      {
        connectionId: connected.json.connection.id,
        server: "Notes",
        title: `Alpha of ${anna.userId}`,
        url: "https://notes.test/1",
        text: `The alpha text of ${anna.userId}.`,
        updatedAt: "2026-11-20T08:00:00.000Z",
      },
      expect.objectContaining({ title: "Second", url: null, text: `told alpha by ${anna.userId}`, updatedAt: null }),
    ],
    connections: [{ connectionId: connected.json.connection.id, server: "Notes", problem: null }],
  });
  expect(JSON.stringify(await kb.search(ben, "&live=true"))).not.toContain(anna.userId);
  // What is shared is what was indexed: a connection is used by its owner alone.
  expect((await kb.search(owner, "&live=true")).live).toEqual({ hits: [], connections: [] });
  expect((await kb.search(owner, "&live=true")).total).toBe(1);

  // One person's failure is theirs.
  server.accepts = ({ authorization }) => authorization !== `Bearer good-${ben.userId}`;
  expect((await kb.search(ben, "&live=true")).live).toMatchObject({
    hits: [],
    connections: [{ problem: "needs_reauth" }],
  });
  expect((await kb.search(ben, "&live=true")).live).toEqual({ hits: [], connections: [] });
  expect((await kb.search(anna, "&live=true")).live).toEqual(live);

  // Neither store, log nor audit has a word of it.
  expect(await kb.everything()).not.toContain("Alpha of");
  expect(JSON.stringify(kb.log.lines)).not.toMatch(/Alpha of|told alpha/);
});

test("kb_search has live hits in a block of their own after the same text", async () => {
  const kb = await makeWorld();
  const plain = await kb.call(kb.admin, { query: "alpha" });
  const { content, structuredContent } = await kb.call(kb.admin, { query: "alpha", live: "yes" });
  const { live, ...indexed } = structuredContent;
  expect(indexed).toEqual(plain.structuredContent);
  expect(content[0]).toEqual(plain.content[0]);
  expect(live).toMatchObject({
    hits: [{ n: 1, from: "Notes", url: "https://notes.test/1", updated: "2026-11-20" }, { n: 2 }],
  });
  expect(content[1]?.text).toBe(
    [
      "2 live hits from this person's own connections, not indexed and in no number above.",
      "",
      `[live 1] Alpha of ${kb.admin.userId}`,
      "live, from: Notes | updated: 2026-11-20 | URL: https://notes.test/1",
      `> The alpha text of ${kb.admin.userId}.`,
      "",
      "[live 2] Second",
      "live, from: Notes",
      `> told alpha by ${kb.admin.userId}`,
      "",
      "End of live hits.",
    ].join("\n"),
  );
  const nobody = await kb.call(kb.anna, { query: "alpha", live: true });
  expect(nobody.content[1]?.text).toContain("Note: no live search");
  expect((await kb.call(kb.admin, { query: "alpha", live: false })).content).toHaveLength(1);
  expect((await kb.call(kb.admin, { query: "alpha", live: "perhaps" })).content[0]?.text).toContain(
    "is not true or false",
  );
});

test("a tool that has changed since it was mapped is not called", async () => {
  const server = notesServer();
  const kb = await makeWorld(server);
  server.tools = [tool("find", "words", "2"), tool("read", "id")];
  expect((await kb.search(kb.admin, "&live=true")).live).toMatchObject({
    hits: [],
    connections: [{ problem: "tool_changed" }],
  });
  expect(server.calls).toEqual([]);
  // One that only reads texts takes nothing else with it.
  server.tools = [tool("find", "words"), tool("read", "id", "2")];
  const { live } = await kb.search(kb.admin, "&live=true");
  expect(live.hits.map(({ text }: { text: string }) => text)).toEqual(["", expect.stringContaining("told alpha")]);
  expect(server.calls).toEqual(["find"]);
});

test("a connection that fails says one code; a server that is off is asked nothing", async () => {
  const server = notesServer();
  const kb = await makeWorld(server);
  const codes: string[] = [];
  for (const code of ["rate_limited", "refused", "too_large", "bad_answer"] as const) {
    server.problem = new McpProblem({ step: "call", code });
    codes.push((await kb.search(kb.admin, "&live=true")).live.connections[0].problem);
  }
  expect(codes).toEqual(["rate_limited", "refused", "unavailable", "unavailable"]);
  delete server.problem;
  server.call = () => ({ isError: true, content: [{ type: "text", text: "PLANTED" }] });
  const refused = await kb.search(kb.admin, "&live=true");
  expect(refused.live).toMatchObject({ hits: [], connections: [{ problem: "refused" }] });
  expect(JSON.stringify(refused)).not.toContain("PLANTED");
  await kb.as(kb.admin).request("PATCH", `/api/mcp-servers/${kb.id}`, { body: { enabled: false } });
  expect((await kb.search(kb.admin, "&live=true")).live).toEqual({ hits: [], connections: [] });
});

test("what is not there when the time is over is left out, and what is there is given", async () => {
  let isOver = () => {};
  const sleep: Sleep = (_ms, signal) =>
    new Promise((end) => {
      isOver = end;
      signal.addEventListener("abort", () => end(), { once: true });
    });
  const server = notesServer();
  const kb = await makeWorld(server);
  const live = makeLiveSearch({
    sessions: makeProviderSessions(kb.deps.serverDeps),
    sleep,
    log: kb.log,
    baseUrl: kb.settings.baseUrl,
  });
  const actor = await kb.actor(kb.admin);
  const ask = () => live.search(actor, "alpha", new AbortController().signal);
  const { call } = server;
  // Its search is in time, its texts are not.
  server.call = (name, ...rest) => {
    if (name !== "read") return call?.(name, ...rest) ?? { isError: true, content: [] };
    isOver();
    return new Promise(() => {});
  };
  expect((await ask()).hits.map(({ text }) => text === "")).toEqual([true, false]);
  server.call = () => {
    isOver();
    return new Promise(() => {});
  };
  expect(await ask()).toMatchObject({ hits: [], connections: [{ problem: "timeout" }] });

  server.call = () => new Promise(() => {});
  const waiting = [ask(), ask(), ask(), ask()];
  expect(await ask()).toMatchObject({ hits: [], connections: [{ problem: "not_asked" }] });
  isOver();
  void waiting;
});

test("whatever a live tool sends, its hits are lines of their own within the room that is left", async () => {
  const entry = fc.record({
    id: fc.constantFrom("1", "2", "3", "4", "5", "6"),
    title: hostileText,
    text: hostileText,
    url: fc.oneof(fc.constantFrom("javascript:alert(1)", "https://notes.test/1"), hostileText),
    updatedAt: fc.constantFrom("2026-11-20T08:00:00Z", "soon"),
  });
  const find = tool("find", "words");
  const actor = { workspaceId: "wsp_a", userId: "usr_a" } as Actor;
  const maxTokens = fc.integer({ min: 200, max: 3_000 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { maxLength: 8 }),
      hostileOutcome,
      hostileText,
      maxTokens,
      async (results, outcome, serverName, most) => {
        const session = {
          listTools: async () => ({ items: [find], leftOut: 0 }),
          callTool: async () => ({ isError: false, content: [], structured: { results } }),
          close: async () => undefined,
        } as unknown as McpSession;
        const mapping = { search: { tool: "find", args: {}, argument: "words", pin: find.pin } };
        const live = await makeLiveSearch({
          sessions: {
            sessionFor: async () => session,
            searchableBy: async () => [{ connectionId: "cnx_a", serverName, isWaiting: false, mapping }],
          },
          sleep: untilAborted,
          log: makeTestLog(),
          baseUrl: "https://kb.test",
        }).search(actor, "evil", new AbortController().signal);
        const how = {
          maxTokens: most,
          count,
          timeZone: "UTC",
          isDetailed: false,
          isContinued: false,
          baseUrl: "https://kb.test",
        };
        const indexed = await renderSearch(outcome, how);
        const both = await addLive(indexed, live, how);
        expect(both.text).toBe(indexed.text);
        const { live: shown, ...rest } = both.structured;
        expect(rest).toEqual(indexed.structured);
        if (both.live === undefined || shown === undefined) {
          expect(shown).toBe(both.live);
          return;
        }
        const sizes = await count([`${both.text}\n${both.live}`, JSON.stringify(both.structured)]);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(most);
        const blocks = both.live.split("\n\n");
        expect(blocks).toHaveLength(shown.hits.length + 2);
        for (const [at, { title, url, snippet }] of shown.hits.entries()) {
          const lines = blocks[at + 1]?.split("\n") ?? [];
          expect(lines).toHaveLength(3);
          expect(lines[0]).toBe(`[live ${at + 1}] ${title}`);
          expect(lines[2]).toBe(snippet === "" ? "snippet: none" : `> ${snippet}`);
          expect(title).not.toMatch(/[\p{Cc}\u202a-\u202e\u200b]/u);
          expect(url ?? "https://").toMatch(/^https?:\/\//);
        }
      },
    ),
    { numRuns: runs(60) },
  );
});
