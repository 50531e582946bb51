import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { loadAuthority } from "#server/connectors/authority.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import type { Source } from "#sources/contract.ts";
import { makeWebSource } from "#sources/web/index.ts";
import { CONNECTOR, makeHarness, WORKSPACE } from "../../server/sync/harness.ts";
import { makePool } from "../http/fixture.ts";
import { CREDENTIALS } from "./fixture.ts";
import { page, sitemap, startSite } from "./site.ts";

const GROUP = "grp_2222222222222222";

/** A connector to a site of 30 pages, in the real engine. */
async function connect(mode: "crawl" | "sitemap", credentials?: typeof CREDENTIALS) {
  const site = await startSite(credentials);
  onTestFinished(() => site.stop());
  const paths = Array.from({ length: 30 }, (_, i) => `/s${Math.floor(i / 10)}/p${i}`);
  const write = () => {
    site.put("/", page("Home", paths));
    site.put("/sitemap.xml", sitemap(["/", ...paths].map((path) => site.origin + path)));
  };
  for (const path of paths) site.put(path, page(path, [], `<meta name="description" content="About ${path}">`));
  write();
  // Its configurations were parsed by its own schema.
  const source = makeWebSource({ limits: { perMinute: 600_000 }, sleep: async () => {} }) as unknown as Source;
  const { pool, clock } = makePool([site]);
  const kb = await makeHarness(() => [], {
    findSource: () => source,
    http: pool,
    credentialsOf: async () => ({ credentials: { ...credentials } }),
    loadAuthority: async (_workspaceId, _source, connector) =>
      loadAuthority({ groups: kb.store.in(WORKSPACE).groups }, source, connector, undefined),
    people: { isTrusted: async () => false, onEnded: async () => undefined, link: async () => undefined },
    parallel: 1,
  });
  const config = source.spec.config.parse({ url: `${site.origin}/`, mode }) as Record<string, unknown>;
  const { connectors, syncs } = kb.store.in(WORKSPACE);
  await connectors.update(CONNECTOR, { config });
  return {
    kb,
    site,
    paths,
    write,
    config,
    connectors,
    syncs,
    /** Time for all. */
    pass: (ms: number) => void [(kb.clock.now += ms), (clock.now += ms)],
    living: async () => (await kb.items()).filter(({ removedAt }) => removedAt === null),
  };
}

test.each(["crawl", "sitemap"] as const)(
  "many pages, then nothing, then changes: only those are read (%s)",
  async (mode) => {
    const web = await connect(mode, CREDENTIALS);
    const { kb, site, paths } = web;
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { upserted: 31, failed: 0 } });
    const [stored] = (await web.living()).filter(({ externalId }) => externalId.endsWith("/p7"));
    expect(stored).toMatchObject({ title: "/s0/p7" });
    site.took();
    expect(await kb.sync("incremental")).toMatchObject({ counts: { upserted: 0, unchanged: 31 } });
    expect(site.took().filter((line) => line.endsWith(" 304"))).toHaveLength(31);

    site.put("/s0/p3", page("/s0/p3", [], "", "Other words."));
    site.things.delete("/s0/p4");
    paths.splice(4, 1);
    web.write();
    expect(await kb.sync("incremental")).toMatchObject({ counts: { upserted: 2, deleted: 1 } });
    // A day and more of increments, then a full run finds the same.
    for (let hours = 0; hours < 26; hours += 13) {
      web.pass(13 * 3_600_000);
      await kb.sync("incremental");
    }
    expect(await kb.sync("full")).toMatchObject({ state: "succeeded", counts: { upserted: 0, deleted: 0 } });
    expect(await web.living()).toHaveLength(30);
  },
);

test("a site that loses nearly all of its pages has them held, and one that fails loses none", async () => {
  const web = await connect("sitemap");
  const { kb, site } = web;
  await kb.sync();
  for (const [status, code] of [
    [500, "unreachable"],
    [401, "auth_required"],
  ] as const) {
    site.instead = (_path, response) => (response.writeHead(status).end(), true);
    expect(await kb.sync("full")).toMatchObject({ state: "failed", problem: { code } });
    expect(await web.living()).toHaveLength(31);
  }
  site.instead = undefined;
  site.put("/sitemap.xml", sitemap([`${site.origin}/`]));
  await kb.sync("full");
  expect(await web.living()).toHaveLength(31);
});

test("other readers are one row, and nothing is asked of the site", async () => {
  const web = await connect("sitemap");
  const { kb, site, connectors } = web;
  const members = async () => {
    const rows = await kb.database.read
      .selectFrom("memberships")
      .select(["groupPrincipal", "memberPrincipal"])
      .execute();
    return rows.map(({ groupPrincipal, memberPrincipal }) => `${memberPrincipal} in ${groupPrincipal}`).sort();
  };
  const tellPeople = async () => {
    const wish = { trigger: "manual", now: kb.clock.now, randomBytes } as const;
    await kb.store.transaction(async (tx) => requestIdentities(tx, WORKSPACE, await kb.connector(), wish));
    await kb.worker.runUntilIdle();
  };
  await kb.sync();
  await tellPeople();
  const group = `group:${CONNECTOR}:readers`;
  expect(await members()).toEqual([`workspace in ${group}`]);
  const items = await kb.items();
  site.took();
  await kb.database.write
    .insertInto("groups")
    .values({ workspaceId: WORKSPACE, groupId: GROUP, name: "Finance", createdAt: 1 })
    .execute();
  await connectors.update(CONNECTOR, { config: { ...web.config, readers: [GROUP] } });
  await tellPeople();
  expect(await members()).toEqual([`group:${GROUP} in ${group}`]);
  expect(site.took()).toEqual([]);
  expect(await kb.items()).toEqual(items);
});

test("a 429 makes the run wait, and it goes on where it stood", async () => {
  const { kb, site, pass, syncs, living } = await connect("crawl");
  let left = 12;
  site.instead = (_path, response) => left-- <= 0 && (response.writeHead(429, { "retry-after": "3600" }).end(), true);
  const { syncId } = await kb.request();
  await kb.worker.runUntilIdle();
  expect(await syncs.find(syncId)).toMatchObject({ state: "waiting", finishedAt: null });
  site.instead = undefined;
  pass(3_700_000);
  await kb.worker.runUntilIdle();
  expect(await syncs.find(syncId)).toMatchObject({ state: "succeeded" });
  expect(await living()).toHaveLength(31);
});
