import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { makeAddressGuard } from "#net/address-guard.ts";
import { makeMcpOpener } from "#server/compose/provider-servers.ts";
import { listen } from "#server/listen.ts";
import type { OpenMcp } from "#server/provider-servers/deps.ts";
import type { Source } from "#sources/contract.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { fakeExtractor, item, listing } from "../sync/harness.ts";

const LIST = { tool: "kb_search", args: { query: "", limit: 50 }, argument: "cursor" };
const FETCH = { tool: "kb_get_file_content", argument: "kbId" };
/** As careless as an admin can be: a live search that asks for a live search. */
const SEARCH = { tool: "kb_search", args: { live: true }, argument: "query" };

/** A kb with two items of its own. */
async function startKb(name: string) {
  const own: Source = {
    spec: {
      providerId: "own",
      name: "Own",
      kinds: ["file"],
      auth: [{ type: "none" }],
      config: z.strictObject({}),
      acl: "connector",
    },
    check: async () => ({ ok: true }),
    sessions: scripted(async function* (context) {
      yield* listing(() => [item(`${name}1.md`, `alpha ${name}`), item(`${name}2.md`, `alpha ${name} too`)])(context);
    }),
  };
  const sources = [own, makeMcpSource() as unknown as Source];
  let opener: OpenMcp | undefined;
  /** What it asks others. */
  const calls: string[] = [];
  const kb = await makeServer({ settings: { rateLimits: "off" } }, (core, database) =>
    composeFeatures(core, database, {
      sources: { find: async (id) => sources.find(({ spec }) => spec.providerId === id), list: async () => sources },
      extractor: fakeExtractor,
      openMcp: async (...asked) => {
        if (!opener) throw new Error("It knows no one yet.");
        const session = await opener(...asked);
        return {
          ...session,
          callTool: (tool, args) => {
            calls.push(JSON.stringify(args));
            return session.callTool(tool, args);
          },
        };
      },
    }),
  );
  const listener = await listen(kb.app.fetch, "127.0.0.1", 0, kb.log);
  onTestFinished(async () => void (await listener.close(0)));
  const owner = await kb.addOwner();
  const as = kb.as(owner);
  const host = `127.0.0.1:${listener.port}`;
  const connectors: string[] = [];
  const addConnector = async (body: object) => {
    const made = await as.post("/api/connectors", { config: {}, access: { visibility: "workspace" }, ...body });
    if (made.status !== 201) throw new Error(made.text);
    connectors.push(made.json.connector.id);
    await kb.deps.worker.runUntilIdle();
  };
  await addConnector({ providerId: "own", name });
  return {
    host,
    calls,
    token: await kb.token(owner),
    search: async (more = "") => (await as.get(`/api/connectors/search?query=alpha&limit=50${more}`)).json,
    async sync() {
      for (const id of connectors) await as.post(`/api/connectors/${id}/syncs`, { mode: "full" });
      await kb.deps.worker.runUntilIdle();
    },
    /** Makes another kb a provider server of this one, and indexes it. */
    async read(other: { host: string; token: string }) {
      const guard = makeAddressGuard({ lookup: async () => [], privateHosts: [other.host], isOwn: () => false });
      opener = makeMcpOpener({ guard, instanceId: name });
      const wanted = { name: "Other", url: `http://${other.host}/mcp`, auth: { kind: "bearer", secret: other.token } };
      const added = await as.post("/api/mcp-servers", wanted);
      if (added.status !== 201) throw new Error(added.text);
      const at = `/api/mcp-servers/${added.json.server.id}`;
      const mapped = await as.request("PUT", `${at}/mapping`, {
        body: { mapping: { list: LIST, search: SEARCH, fetch: FETCH } },
      });
      if (mapped.status !== 200) throw new Error(mapped.text);
      const connected = await as.post(`${at}/connections`, { app: "other", credentials: { token: other.token } });
      await addConnector({ providerId: "mcp", name: "Other", connectionId: connected.json.connection.id });
    },
  };
}

test("two instances that index each other have what is the other's own, and nothing twice", async () => {
  const one = await startKb("one");
  const two = await startKb("two");
  await one.read(two);
  await two.read(one);
  const counts: number[][] = [];
  for (let round = 0; round < 3; round++) {
    await one.sync();
    await two.sync();
    counts.push([(await one.search()).total, (await two.search()).total]);
  }
  expect(counts).toEqual([
    [4, 4],
    [4, 4],
    [4, 4],
  ]);
});

test("a live search asks another instance's index, and no one behind it", async () => {
  const one = await startKb("one");
  const two = await startKb("two");
  await one.read(two);
  await two.read(one);
  one.calls.length = 0;
  two.calls.length = 0;
  const { live } = await one.search("&live=true");
  expect(live.hits.map(({ title }: { title: string }) => title).toSorted()).toEqual(["two1.md", "two2.md"]);
  expect(one.calls).toEqual(['{"live":true,"query":"alpha"}']);
  expect(two.calls).toEqual([]);
});
