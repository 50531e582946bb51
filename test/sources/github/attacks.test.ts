import { generateKeyPairSync, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { gitOrigins, signedOrigins } from "#sources/http/origins.ts";
import { GithubConfig, GithubCredentials, graphqlUrlOf, webUrlOf } from "#sources/github/config.ts";
import { apiVersionOf } from "#sources/github/client.ts";
import { makeGithubForge } from "#sources/github/forge.ts";
import { makeGithubSource } from "#sources/github/index.ts";
import type { SourceContext } from "#sources/context.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { contextOf } from "../../kit/fixture.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeGithubFixture, places } from "./fixture.ts";
import { hookOf, idOf, makeWorld, SECRET, type World } from "./world.ts";

type Change = { token?: string; repositories?: string[]; credentials?: Record<string, string> };

/** A connector to the fake. */
async function open(
  world: World,
  { token = "token-olga", repositories = ["acme"], credentials = { token } }: Change = {},
) {
  const made = await makeGithubFixture(world);
  const fixture = { ...made, config: { ...made.config, repositories }, credentials };
  return { fixture, ctx: contextOf(fixture) as SourceContext<GithubConfig> };
}

/** What is told of people: members of each group, and the state of each user. */
async function peopleOf(ctx: SourceContext<GithubConfig>, cursor: unknown = null) {
  const groups = new Map<string, string[]>();
  const states = new Map<string, string>();
  const last = (principal: string) => principal.slice(principal.lastIndexOf(":") + 1);
  const run = { mode: "changes" as const, cursor, async *due() {}, async *groupsReported() {} };
  let next: unknown;
  const events: AsyncIterable<IdentityEvent> | undefined = makeGithubSource(places()).syncIdentities?.(ctx, run);
  for await (const event of events ?? []) {
    if (event.t === "group")
      groups.set(last(event.group), [...(groups.get(last(event.group)) ?? []), ...event.members.map(last)]);
    if (event.t === "identity") states.set(last(event.principal), event.state);
    if (event.t === "checkpoint") next = event.cursor;
  }
  const readers = (repository: { id: number }, of = "issues") => {
    const openGroup = (id: string): string[] =>
      groups.get(id)?.flatMap((each) => (groups.has(each) ? openGroup(each) : [each])) ?? [];
    return [...new Set(openGroup(`r${repository.id}.${of}`))].sort();
  };
  return { groups, states, readers, cursor: next };
}

const ids = (...some: number[]) => some.map(String).sort();

describe("who is let in", () => {
  test("a token that isn't shown the roles of an organization makes no one an owner", async () => {
    const world = await makeWorld();
    const { people, repositories } = world;
    // Carl is shown the public members whatever role he asks for.
    const { groups, readers } = await peopleOf((await open(world, { token: "token-carl" })).ctx);
    expect(groups.get(`o${world.fake.organization.id}.owners`)).toEqual([]);
    expect(readers(repositories.web)).toEqual([]);
    expect(readers(repositories.site)).toEqual(["everyone"]);
    // Neither do base permission and teams count that a member isn't shown whole: GitHub says who reads it, or nobody does.
    const asMember = await peopleOf((await open(world, { token: "token-mia" })).ctx);
    expect(asMember.readers(repositories.inner)).toEqual(ids(people.olga, people.tim, people.mia));
    expect(asMember.readers(repositories.api)).toEqual([]);
  });

  test("without GraphQL, and group by group, the same people read", async () => {
    const world = await makeWorld();
    const { fake, server, people, repositories, teams } = world;
    const { ctx } = await open(world);
    const together = await peopleOf(ctx);
    expect(together.readers(repositories.web)).toEqual(ids(people.olga, people.carl));
    server.hasGraphql = false;
    const alone = await peopleOf(ctx);
    const source = makeGithubSource(places());
    for (const repository of Object.values(repositories)) {
      expect(alone.readers(repository)).toEqual(together.readers(repository));
      const group = `group:${ctx.connector.id}:r${repository.id}.pulls`;
      const run = {
        mode: "groups" as const,
        groups: [group],
        cursor: null,
        async *due() {},
        async *groupsReported() {},
      };
      const told: string[] = [];
      for await (const event of source.syncIdentities?.(ctx, run) ?? [])
        if (event.t === "group") told.push(...event.members.map((each) => each.slice(each.lastIndexOf(":") + 1)));
      const named = told.flatMap((each) => (together.groups.has(each) ? (together.groups.get(each) ?? []) : [each]));
      expect([...new Set(named)].sort()).toEqual(together.readers(repository));
    }
    // Some of the groups beside them.
    const { id } = fake.organization;
    for (const [group, members] of [
      [`t${teams.crew.id}`, [people.tim]],
      [`o${id}.owners`, [people.olga]],
      [`o${id}`, [people.olga, people.tim, people.mia]],
      ["t999", []],
      ["r999.issues", []],
      ["elsewhere", []],
    ] as const) {
      const run = {
        mode: "groups" as const,
        groups: [`group:${ctx.connector.id}:${group}`],
        cursor: null,
        async *due() {},
        async *groupsReported() {},
      };
      const told: number[] = [];
      for await (const event of source.syncIdentities?.(ctx, run) ?? [])
        if (event.t === "group")
          told.push(...event.members.map((each) => Number(each.slice(each.lastIndexOf(":") + 1))));
      expect(told.sort()).toEqual([...members].sort());
    }
  });

  test("a server that shows nothing without signing in has no public repository, and an unknown visibility is closed", async () => {
    const world = await makeWorld();
    const { server, people, repositories } = world;
    server.isPrivateMode = true;
    const { ctx } = await open(world);
    expect((await peopleOf(ctx)).readers(repositories.site)).toEqual(ids(people.olga, people.tim, people.mia));
    server.isPrivateMode = false;
    repositories.site.visibility = "secret" as never;
    expect((await peopleOf(ctx)).readers(repositories.site)).not.toContain("everyone");
    // What is turned off is for nobody.
    repositories.web.hasIssues = false;
    const { readers } = await peopleOf(ctx);
    expect([readers(repositories.web, "issues"), readers(repositories.web, "pulls")]).toEqual([
      [],
      ids(people.olga, people.carl),
    ]);
  });

  test("a private fork of a security advisory is for those alone whom GitHub lists", async () => {
    const world = await makeWorld();
    const { fake, server, people, teams } = world;
    const fork = fake.addRepository("api-ghsa-ab12-cd34-ef56", "private");
    fork.direct.add(people.carl);
    teams.crew.repositories.add(fork.id);
    fake.organization.base = "read";
    server.hasGraphql = false;
    // Of such a fork the listing of collaborators leaves out whom only the organization lets in.
    server.instead = ({ path }, response) =>
      path.startsWith(`/repositories/${fork.id}/collaborators`) &&
      (response.end(JSON.stringify([{ id: people.carl, login: "carl", type: "User" }])), true);
    expect((await peopleOf((await open(world)).ctx)).readers(fork)).toEqual(ids(people.carl));
  });

  test("who left an organization is not gone from GitHub, and who was deleted is", async () => {
    const world = await makeWorld();
    const { fake, people } = world;
    const { ctx } = await open(world);
    const { cursor } = await peopleOf(ctx);
    fake.organization.members.delete(people.mia);
    fake.removeUser(people.carl);
    const { states, groups } = await peopleOf(ctx, cursor);
    expect(states.get(String(people.mia))).toBeUndefined();
    expect(states.get(String(people.carl))).toBe("gone");
    expect(groups.get(`o${fake.organization.id}`)).not.toContain(String(people.mia));
  });

  test("hundreds of repositories are read by teams and in hundreds, not one by one", async () => {
    const world = await makeWorld();
    const { fake, server, people } = world;
    server.page = 100;
    for (let at = 0; at < 300; at++) fake.addRepository(`many-${at}`, "private").direct.add(people.carl);
    const all = [...fake.repositories.keys()];
    for (let at = 0; at < 6; at++) {
      const team = fake.addTeam();
      for (const id of all.slice(at * 50, at * 50 + 50)) team.repositories.add(id);
    }
    const { ctx } = await open(world);
    server.requests.length = 0;
    await peopleOf(ctx);
    // Pages of repositories, the organization with its people and teams, 2 for each team, queries, each person of this server.
    expect(server.requests.length).toBeLessThanOrEqual(6 + 5 + 2 * 8 + 4 + 5);
  });
});

describe("what GitHub refuses", () => {
  const answer = (world: World, matches: RegExp, status: number, headers = {}, body = "{}") => {
    world.server.instead = ({ path }, response) =>
      matches.test(path) && (response.writeHead(status, headers).end(body), true);
  };

  test("limits are limits: primary, secondary, with and without a time to wait, and in GraphQL", async () => {
    const world = await makeWorld();
    const { fixture } = await open(world);
    const reset = String(Math.ceil(Date.now() / 1_000) + 1_800);
    for (const [status, headers, body] of [
      [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset }, "{}"],
      [403, { "retry-after": "120" }, "{}"],
      [403, {}, JSON.stringify({ message: "You have exceeded a secondary rate limit." })],
      [429, { "retry-after": "90" }, "{}"],
    ] as const) {
      // Another token each time: a limit is a token's.
      const token = `token-${status}-${JSON.stringify(headers)}${body}`.replaceAll(/[^\w-]/g, "");
      world.fake.tokens.set(token, world.people.olga);
      answer(world, /^\/repositories\/\d+\/issues/, status, headers, body);
      await expect(runInto({ ...fixture, credentials: { token } }, makeReplica())).rejects.toMatchObject({
        code: "source_rate_limited",
        retryAfterMs: expect.toSatisfy((ms: number) => ms >= 59_000),
      });
    }
    answer(
      world,
      /^\/graphql/,
      200,
      { "x-ratelimit-reset": reset },
      JSON.stringify({ errors: [{ type: "RATE_LIMITED" }] }),
    );
    await expect(runInto(fixture, makeReplica())).rejects.toMatchObject({ code: "source_rate_limited" });
  });

  test("a repository that was taken down is refused alone, and a cut listing deletes nothing", async () => {
    const world = await makeWorld();
    const { api, web } = world.repositories;
    const { fixture } = await open(world);
    const replica = makeReplica();
    await runInto(fixture, replica);
    const before = [...replica.items.keys()].sort();
    answer(world, new RegExp(`^/repositories/${api.id}/issues`), 451);
    const { events } = await runInto(fixture, replica, { mode: "incremental" });
    const refused = { t: "refused", what: { container: { type: "repository", id: `r${api.id}` } } };
    expect(events).toContainEqual({ ...refused, code: "source_forbidden" });
    expect([...replica.items.keys()].sort()).toEqual(before);
    for (const path of [/^\/orgs\/acme\/repos.*page=2/, new RegExp(`^/repositories/${web.id}/issues`)]) {
      world.server.instead = (asked, response) => {
        if (!path.test(asked.path)) return false;
        response.writeHead(200, { "content-length": "1000" });
        response.write('[{"id":');
        response.destroy();
        return true;
      };
      await expect(runInto(fixture, replica)).rejects.toMatchObject({ code: "source_unavailable" });
      expect([...replica.items.keys()].sort()).toEqual(before);
    }
  });

  test("an organization that requires single sign-on is hidden and stays, and the check says what to do", async () => {
    const world = await makeWorld();
    const { fake, server } = world;
    const own = fake.addRepository("notes", "private", world.people.olga);
    fake.addIssue(own, "Mine");
    const { fixture, ctx } = await open(world, { repositories: [] });
    const replica = makeReplica();
    await runInto(fixture, replica);
    const before = [...replica.items.keys()].sort();
    expect(before).toContain(`r${own.id}#1`);
    server.isSsoMissing = true;
    for (const mode of ["incremental", "full"] as const) {
      const { events } = await runInto(fixture, replica, { mode });
      expect(events.filter(({ t }) => t === "refused").length).toBeGreaterThanOrEqual(2);
      expect([...replica.items.keys()].filter((id) => !id.startsWith(`r${own.id}`)).length).toBeGreaterThan(5);
    }
    expect(await fixture.source.check(ctx)).toMatchObject({
      ok: true,
      warnings: expect.arrayContaining([
        expect.stringContaining("acme doesn't exist, or this token can't read it: it requires SAML"),
      ]),
    });
    const named = (await open(world, { repositories: ["acme/api"] })).ctx;
    answer(world, /^\/repos\/acme\/api/, 403, { "x-github-sso": "required; url=https://github.com/orgs/acme/sso" });
    expect(await fixture.source.check(named)).toMatchObject({
      ok: false,
      problem: { field: "repositories", message: expect.stringContaining("authorize the token") },
    });
  });

  test("an organization that is refused by its ID, too, is hidden, and ends no run", async () => {
    const world = await makeWorld();
    const { fake, server } = world;
    const own = fake.addRepository("notes", "private", world.people.olga);
    fake.addIssue(own, "Mine");
    const { fixture } = await open(world, { repositories: [] });
    const replica = makeReplica();
    await runInto(fixture, replica);
    const before = [...replica.items.keys()].sort();
    server.isSsoMissing = true;
    answer(world, /^\/organizations\/\d+$/, 403, { "x-github-sso": "required; url=x" });
    for (const mode of ["full", "incremental", "full"] as const) {
      fake.addIssue(own, `Another of ${mode}`);
      const { events } = await runInto(fixture, replica, { mode });
      expect(events.filter(({ t }) => t === "refused").length).toBeGreaterThanOrEqual(2);
      expect([...replica.items.keys()]).toEqual(expect.arrayContaining(before));
    }
  });

  test("a repository that is renamed and then refused is hidden, not deleted", async () => {
    const world = await makeWorld();
    const { api } = world.repositories;
    const { fixture } = await open(world, { repositories: ["acme/api", "acme/web"] });
    const replica = makeReplica();
    await runInto(fixture, replica);
    const before = [...replica.items.keys()].filter((id) => id.startsWith(`r${api.id}#`)).sort();
    expect(before.length).toBeGreaterThan(1);
    api.name = "renamed";
    world.server.instead = ({ path }, response) =>
      path === "/repos/acme/api" &&
      (response.writeHead(301, { location: `${fixture.config.apiUrl}/repositories/${api.id}` }).end(), true);
    await runInto(fixture, replica, { mode: "incremental" });
    answer(world, /^\/repos\/acme\/api$/, 403);
    for (const mode of ["full", "incremental", "full"] as const) {
      const { events } = await runInto(fixture, replica, { mode });
      const what = { container: { type: "repository", id: `r${api.id}` } };
      expect(events).toContainEqual({ t: "refused", what, code: "source_forbidden" });
      expect([...replica.items.keys()].filter((id) => id.startsWith(`r${api.id}#`)).sort()).toEqual(before);
    }
  });

  test("a check names the rights that are missing", async () => {
    const world = await makeWorld();
    const { api, web } = world.repositories;
    const warningsOf = async (change: Change) => {
      const { fixture, ctx } = await open(world, change);
      const outcome = await fixture.source.check(ctx);
      return outcome.ok ? (outcome.warnings ?? []) : [outcome.problem.message];
    };
    expect(await warningsOf({})).toEqual([]);
    expect(await warningsOf({ token: "token-carl" })).toEqual([
      expect.stringContaining(
        "kb can't see who reads acme/web, so no one can find it. Use a token of an organization owner",
      ),
    ]);
    answer(world, new RegExp(`^/repositories/(${api.id}|${web.id})/pulls`), 403, {
      "x-accepted-github-permissions": "pull_requests=read",
    });
    expect(await warningsOf({})).toEqual([
      "This token can't read pull requests of acme/api: the token needs pull_requests: read.",
    ]);
    world.server.instead = undefined;
    expect(await warningsOf({ repositories: ["acme/none", "acme/api"] })).toEqual([
      "acme/none doesn't exist, or this token can't read it.",
    ]);
  });
});

describe("where credentials go", () => {
  test("a listing that goes on at another origin is followed nowhere", async () => {
    const world = await makeWorld();
    const { ctx } = await open(world);
    for (const link of ["https://evil.test/x?page=2", "//evil.test/x", `http://127.0.0.1:${world.server.port + 1}/x`]) {
      world.server.instead = ({ path }, response) =>
        path.startsWith("/orgs/acme/repos") &&
        (response.writeHead(200, { link: `<${link}>; rel="next"` }).end("[]"), true);
      await expect(makeGithubForge(ctx).list()).rejects.toMatchObject({ code: "source_unavailable" });
    }
  });

  test("the API's token goes to the API, and for git to the pages of the same GitHub alone", () => {
    const source = makeGithubSource(places());
    const placesOf = (apiUrl: string) => {
      const config = GithubConfig.parse({ apiUrl });
      return [[...signedOrigins(source as never, config)], [...gitOrigins(source as never, config)]];
    };
    expect(placesOf("https://api.github.com/")).toEqual([["https://api.github.com"], ["https://github.com"]]);
    expect(placesOf("https://api.acme.ghe.com")).toEqual([["https://api.acme.ghe.com"], ["https://acme.ghe.com"]]);
    expect(placesOf("https://git.acme.test/api/v3")).toEqual([["https://git.acme.test"], ["https://git.acme.test"]]);
    for (const apiUrl of [
      "https://api.github.com.evil.test",
      "https://evil.test/api.github.com",
      "https://api.x.ghe.com.evil.test",
    ])
      for (const origins of placesOf(apiUrl)) expect(origins).toEqual([new URL(apiUrl).origin]);
    const config = { apiUrl: "https://git.acme.test/api/v3" };
    expect([webUrlOf(config), graphqlUrlOf(config)]).toEqual([
      "https://git.acme.test",
      "https://git.acme.test/api/graphql",
    ]);
  });

  test("GitHub's own hosts are asked in their newest version, and a server of one's own in one that all have", () => {
    const versionOf = (apiUrl: string) => apiVersionOf(GithubConfig.parse({ apiUrl }));
    expect(
      ["https://api.github.com", "https://api.acme.ghe.com", "https://git.acme.test/api/v3"].map(versionOf),
    ).toEqual(["2026-03-10", "2026-03-10", "2022-11-28"]);
  });

  test("a token or an app, and nothing between", () => {
    const privateKey = "-----BEGIN RSA PRIVATE KEY-----\nx";
    const isTaken = (credentials: unknown) => GithubCredentials.safeParse(credentials).success;
    expect(isTaken({ token: "x" })).toBe(true);
    expect(isTaken({ appId: "1", privateKey, installation: "2" })).toBe(true);
    for (const other of [{}, { appId: "1" }, { token: "x", appId: "1" }, { appId: "1", privateKey }, { token: "a b" }])
      expect(isTaken(other)).toBe(false);
  });

  test("an app reads what it is installed on, with a token that it gets by a signed assertion", async () => {
    const world = await makeWorld();
    const { fake, server, repositories, people } = world;
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const minted: unknown[] = [];
    fake.installed.set("token-app", new Set([repositories.api.id, repositories.inner.id]));
    server.instead = ({ method, path, token = "" }, response) => {
      if (method !== "POST" || path !== "/app/installations/77/access_tokens") return false;
      const [head = "", claims = "", signature = ""] = token.split(".");
      const isSigned = verify(
        "RSA-SHA256",
        Buffer.from(`${head}.${claims}`),
        publicKey,
        Buffer.from(signature, "base64url"),
      );
      minted.push(isSigned && JSON.parse(Buffer.from(claims, "base64url").toString("utf8")));
      response
        .writeHead(201)
        .end(JSON.stringify({ token: "token-app", expires_at: new Date(Date.now() + 3_600_000).toISOString() }));
      return true;
    };
    // The wire has the JWT where a token would be.
    const credentials = {
      appId: "12",
      privateKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
      installation: "77",
    };
    const { fixture, ctx } = await open(world, { repositories: [], credentials });
    expect(await fixture.source.check(ctx)).toEqual({ ok: true });
    const replica = makeReplica();
    await runInto(fixture, replica);
    const containers = new Set([...replica.items.keys()].map((id) => id.split("#")[0]));
    expect([...containers].sort()).toEqual([`r${repositories.api.id}`, `r${repositories.inner.id}`]);
    const { readers } = await peopleOf(ctx);
    expect(readers(repositories.api)).toEqual(ids(people.olga, people.tim));
    expect(minted).toEqual([expect.objectContaining({ iss: "12" })]);
  });
});

describe("webhooks", () => {
  test("only what is signed is believed, and says what changed", async () => {
    const { webhook } = makeGithubSource(places());
    const read = (event: string, payload: unknown, secret = SECRET) => {
      const answer = webhook?.verify(SECRET, hookOf(event, payload, secret));
      return answer === "refused" ? answer : answer?.changes;
    };
    const repository = { id: 7 };
    expect(read("issues", { action: "edited", repository, issue: { number: 3 } })).toEqual([
      { t: "items", externalIds: ["r7#3"] },
    ]);
    expect(read("issues", { action: "transferred", repository, issue: { number: 3 } })).toEqual([{ t: "delta" }]);
    expect(read("issue_comment", { action: "deleted", repository, issue: { number: 3 }, comment: { id: 9 } })).toEqual([
      { t: "items", externalIds: ["r7#3.c9"] },
    ]);
    expect(read("membership", { action: "removed", team: { id: 5 }, organization: { id: 2 } })).toEqual([
      { t: "groups", ids: ["t5"] },
    ]);
    expect(read("organization", { action: "member_removed", organization: { id: 2 } })).toEqual([
      { t: "groups", ids: ["o2", "o2.owners"] },
      { t: "people" },
    ]);
    const groups = { t: "groups", ids: ["r7.issues", "r7.pulls", "r7.files"] };
    expect(read("team", { action: "removed_from_repository", team: { id: 5 }, repository })).toEqual([groups]);
    expect(read("member", { action: "removed", repository })).toEqual([{ t: "delta" }, groups]);
    expect(read("ping", { zen: "x" })).toEqual([]);
    expect(read("issues", { repository, issue: { number: 3 } }, "another")).toBe("refused");
    const { rawBody, receivedAt } = hookOf("issues", {});
    for (const signature of ["", "sha256=", "sha1=00", "sha256=zz"]) {
      const headers = new Headers({ "x-github-event": "issues", "x-hub-signature-256": signature });
      expect(webhook?.verify(SECRET, { headers, rawBody, receivedAt })).toBe("refused");
    }
  });

  test("a notification about a repository that the config doesn't name brings nothing of it", async () => {
    const world = await makeWorld();
    const { repositories, issues, comment } = world;
    const { fixture } = await open(world, { repositories: ["acme/web"] });
    const replica = makeReplica();
    const secret = idOf(repositories.api, issues.first);
    for (const externalIds of [[secret], [`${secret}.c${comment.id}`], [`r${repositories.api.id}:notes.md`]]) {
      const { events } = await runInto(fixture, replica, { mode: "items", externalIds });
      expect(events.filter(({ t }) => t === "upsert")).toEqual([]);
      await runInto(fixture, replica);
    }
    const own = idOf(repositories.web, issues.slow);
    const { events } = await runInto(fixture, makeReplica(), { mode: "items", externalIds: [own] });
    expect(events).toContainEqual(expect.objectContaining({ t: "upsert" }));
    expect([...replica.items.keys()].filter((id) => !id.startsWith(`r${repositories.web.id}#`))).toEqual([]);
  });
});
