import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { listed } from "#sources/listed.ts";
import { numberedPages } from "#sources/forge/pages.ts";
import { makeGiteaClient } from "#sources/gitea/client.ts";
import { makeGiteaForge } from "#sources/gitea/forge.ts";
import { makeGiteaSource } from "#sources/gitea/index.ts";
import { GiteaConfig } from "#sources/gitea/config.ts";
import type { SourceContext } from "#sources/context.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { contextOf, type KitFixture } from "../../kit/fixture.ts";
import { startProxy } from "../proxy.ts";
import { places } from "./fixture.ts";
import { type GiteaServer, startGitea, whyNoGitea } from "./server.ts";

let server: GiteaServer;
let made = 0;

/** A connector of the source at a port of this machine. */
function contextAt(port: number, token: string, repositories: readonly string[]): SourceContext<GiteaConfig> {
  const source = makeGiteaSource(places());
  const config = GiteaConfig.parse({ url: `http://127.0.0.1:${port}`, repositories });
  const fixture = { source, config, credentials: { token } } as unknown as KitFixture;
  return contextOf(fixture) as SourceContext<GiteaConfig>;
}

/** Members of each group by its id, and the users by theirs. */
async function peopleOf(ctx: SourceContext<GiteaConfig>) {
  const groups = new Map<string, string[]>();
  const events: AsyncIterable<IdentityEvent> =
    makeGiteaSource(places()).syncIdentities?.(ctx, {
      mode: "whole",
      cursor: null,
      async *due() {},
      async *groupsReported() {},
    }) ?? (async function* () {})();
  const last = (principal: string) => principal.slice(principal.lastIndexOf(":") + 1);
  for await (const event of events) if (event.t === "group") groups.set(last(event.group), event.members.map(last));
  return groups;
}

/** Gives these answers, by turns. */
async function serve(
  answer: (request: IncomingMessage, port: number) => { body: unknown; headers?: Record<string, string> },
) {
  const http = createServer((request, response) => {
    const { body, headers = {} } = answer(request, (http.address() as AddressInfo).port);
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void (http.closeAllConnections(), http.close()));
  // A listening server over TCP has such an address.
  return (http.address() as AddressInfo).port;
}

const record = z.object({ id: z.number() });
async function idsAt(port: number): Promise<number[]> {
  const { http, now } = contextAt(port, "token", []);
  const request = { url: `http://127.0.0.1:${port}/list`, auth: true } as const;
  const ids: number[] = [];
  for await (const { records } of numberedPages(http, { request, schema: listed(record), limit: 2, now }))
    ids.push(...records.map(({ id }) => id));
  return ids;
}

test("no one is gone because of a user whose record isn't understood", async () => {
  const users = [
    { id: 1, login: "ann" },
    { id: 2, login: null },
    { id: 3, login: "cid" },
  ];
  const port = await serve(() => ({ body: users, headers: { "x-total-count": "3" } }));
  await expect(makeGiteaClient(contextAt(port, "token", [])).everyUser()).rejects.toThrow("list of users");
});

const pageOf = ({ url = "" }: IncomingMessage) => Number(new URL(url, "http://x").searchParams.get("page"));

describe("a listing by page numbers", () => {
  test("goes on after a page of which this account may see nothing", async () => {
    const pages = [[], [], [{ id: 5 }, { id: 6 }]];
    const port = await serve((request, at) => ({
      body: pages[pageOf(request) - 1] ?? [],
      headers: {
        "x-total-count": "6",
        ...(pageOf(request) < 3 && { link: `<http://127.0.0.1:${at}/list?page=${pageOf(request) + 1}>; rel="next"` }),
      },
    }));
    expect(await idsAt(port)).toEqual([5, 6]);
  });

  test("ends with a failure when the server gives one page for ever", async () => {
    const port = await serve(() => ({ body: [{ id: 1 }, { id: 2 }] }));
    await expect(idsAt(port)).rejects.toMatchObject({ code: "source_unavailable" });
  });
});

describe.skipIf(whyNoGitea() !== undefined)("attacks on gitea, with a real server", { timeout: 120_000 }, () => {
  let [olga, ruth, mia]: Awaited<ReturnType<GiteaServer["addPerson"]>>[] = [];
  let ids: Record<"open" | "other", number>;
  beforeAll(async () => {
    server = await startGitea();
    const { api } = server;
    olga = await server.addPerson("olga");
    ruth = await server.addPerson("ruth");
    mia = await server.addPerson("mia");
    await api("PATCH", "/admin/users/ruth", { login_name: "ruth", source_id: 0, restricted: true });
    await api("POST", "/orgs", { username: "closed", visibility: "private" }, olga.token);
    const make = async (name: string) =>
      (await api<{ id: number }>("POST", "/orgs/closed/repos", { name, private: name === "other" }, olga?.token)).id;
    ids = { open: await make("open"), other: await make("other") };
    for (const name of ["open", "other"])
      await api("POST", `/repos/closed/${name}/issues`, { title: `In ${name}` }, olga.token);
    const units = { "repo.issues": "read" };
    const team = { name: "some", permission: "read", units_map: units, includes_all_repositories: false };
    const { id } = await api<{ id: number }>("POST", "/orgs/closed/teams", team, olga.token);
    await api("PUT", `/teams/${id}/repos/closed/other`);
    for (const { login } of [ruth, mia]) await api("PUT", `/teams/${id}/members/${login}`);
    return () => server.stop();
  }, 120_000);

  /** A token of the site administrator with these scopes alone. */
  async function tokenWith(scopes: readonly string[]): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/users/admin1/tokens`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from("admin1:throwaway-admin-1").toString("base64")}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ name: `token ${++made}`, scopes }),
    });
    return z.object({ sha1: z.string() }).parse(await answer.json()).sha1;
  }

  /** Who reads the issues of a public repository of a private organization, here and there. */
  async function readersOfOpen(groups: Map<string, string[]>): Promise<[here: number[], there: number[]]> {
    const people = [ruth, mia];
    const open = (id: string): string[] =>
      (groups.get(id) ?? []).flatMap((member) => (groups.has(member) ? open(member) : [member]));
    const here = new Set(open(`r${ids.open}.issues`));
    const there: number[] = [];
    for (const each of people)
      if (each && (await server.status("/repos/closed/open/issues/1", each.token)) === 200) there.push(each.id);
    return [people.flatMap((each) => (each && here.has(String(each.id)) ? [each.id] : [])), there];
  }

  test("a restricted member of a private organization reads only what they were given", async () => {
    const ctx = contextAt(server.port, server.token, ["closed"]);
    const [here, there] = await readersOfOpen(await peopleOf(ctx));
    expect([here, there]).toEqual([[mia?.id], [mia?.id]]);
  });

  test("issues that are turned off are for no one", async () => {
    await server.api("PATCH", "/repos/closed/open", { has_issues: false });
    const groups = await peopleOf(contextAt(server.port, server.token, ["closed"]));
    await server.api("PATCH", "/repos/closed/open", { has_issues: true });
    expect(groups.get(`r${ids.open}.issues`)).toEqual([]);
    expect(groups.get(`r${ids.open}.pulls`)).not.toEqual([]);
  });

  test("a page to sign in before the server is not its answer to everyone", async () => {
    await server.api("POST", "/user/repos", { name: "public", private: false }, olga?.token);
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.stop());
    const ctx = contextAt(proxy.port, server.token, ["olga/public"]);
    const readers = async () => [...(await peopleOf(ctx)).values()].flat();
    expect(await readers()).toContain("everyone");
    for (const [status, headers] of [
      [200, { "content-type": "text/html" }],
      [302, { location: "https://sso.acme.test/" }],
    ] as const) {
      proxy.instead = (passed, response) => {
        if (passed.headers.authorization !== undefined) return false;
        response.writeHead(status, headers).end("<html>Sign in</html>");
        return true;
      };
      expect(await readers()).not.toContain("everyone");
      expect(await readers()).toContain("signed-in");
    }
  });

  test("a token without a scope that is needed is told so before anything is stored", async () => {
    const need = ["read:repository", "read:issue", "read:organization", "read:user"];
    const check = async (scopes: readonly string[]) =>
      makeGiteaSource(places()).check(contextAt(server.port, await tokenWith(scopes), ["closed"]));
    for (const missing of ["read:issue", "read:organization"])
      expect(await check(need.filter((scope) => scope !== missing))).toMatchObject({
        ok: false,
        problem: { code: "source_forbidden", field: "credentials" },
      });
    expect(await check(need)).toMatchObject({ ok: true, warnings: [expect.stringContaining("read:admin")] });
    expect(await check([...need, "read:admin"])).toEqual({ ok: true });
  });

  test("an administrator's token that may not read admin tells of teams all the same", async () => {
    const token = await tokenWith(["read:repository", "read:organization", "read:user"]);
    const [here, there] = await readersOfOpen(await peopleOf(contextAt(server.port, token, ["closed"])));
    expect(here).toEqual(there);
  });

  test("what stands under a name that another repository has taken is not told as the first one's", async () => {
    const forge = makeGiteaForge(contextAt(server.port, server.token, ["closed"]));
    const open = await forge.repository(String(ids.open));
    await server.api("PATCH", "/repos/closed/open", { name: "former" });
    await server.api("PATCH", "/repos/closed/other", { name: "open" });
    await expect(async () => {
      for await (const _ of forge.threads(open));
    }).rejects.toMatchObject({ code: "source_not_found" });
  });
});
