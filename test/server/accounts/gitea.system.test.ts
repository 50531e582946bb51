/** Against a real Gitea: its OAuth 2 server, its tokens, its people. */
import { beforeAll, describe, test } from "vitest";
import { type GiteaServer, startGitea, whyNoGitea } from "../../sources/gitea/server.ts";
import { makeAccountServer } from "./server.ts";

const CALLBACK = "http://127.0.0.1:7700/api/accounts/gitea/callback";

let gitea: GiteaServer;

describe.skipIf(whyNoGitea() !== undefined)("accounts at a real Gitea", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    gitea = await startGitea();
    return () => gitea.stop();
  }, 120_000);

  async function makeBoth() {
    const app = await gitea.api<{ id: number; client_id: string; client_secret: string }>(
      "POST",
      "/user/applications/oauth2",
      { name: "kb", redirect_uris: [CALLBACK], confidential_client: true },
    );
    const baseUrl = `http://127.0.0.1:${gitea.port}`;
    const client = { clientId: app.client_id, clientSecret: app.client_secret };
    const kb = await makeAccountServer({ gitea: { baseUrl, ...client } });
    return { kb, baseUrl };
  }

  test("connects by OAuth with PKCE, renews its tokens, and asks again who it is", async ({ expect }) => {
    const { kb, baseUrl } = await makeBoth();
    const anna = await gitea.addPerson("anna");
    const back = await agree(baseUrl, "anna", await kb.begin(kb.anna, "gitea"));
    const { json } = await kb.accept(kb.anna, (await kb.go(kb.anna, back)).location);
    expect(json.account).toMatchObject({
      login: "anna",
      state: "active",
      isLinked: true,
      principal: `user:gitea:${encodeURIComponent(baseUrl)}:${anna.id}`,
    });
    const { keeper } = kb.deps.accountDeps;
    const record = await kb.store.in(kb.anna.workspaceId).accounts.find(json.account.id);
    if (!record) throw new Error("There is no account.");
    const tokens = keeper.tokensOf(kb.anna.workspaceId, record);
    // Of one second, its tokens are equal: that it gave new ones is seen in the record.
    await tokens.refresh(await tokens.accessToken());
    expect((await kb.store.in(kb.anna.workspaceId).accounts.find(record.accountId))?.version).toBe(2);
    kb.clock.advance(13 * 3_600_000);
    await kb.worker.runUntilIdle();
    expect(Date.parse((await kb.accountsOf(kb.anna))[0].confirmedAt)).toBe(kb.clock.now());
  });

  test("needs its person again once they have taken the grant back", async ({ expect }) => {
    const { kb, baseUrl } = await makeBoth();
    await gitea.addPerson("dora");
    const back = await agree(baseUrl, "dora", await kb.begin(kb.anna, "gitea"));
    await kb.accept(kb.anna, (await kb.go(kb.anna, back)).location);
    await gitea.api("DELETE", "/admin/users/dora?purge=true");
    kb.clock.advance(13 * 3_600_000);
    await kb.worker.runUntilIdle();
    expect((await kb.accountsOf(kb.anna))[0]).toMatchObject({ state: "needs_reauth" });
  });

  test("takes a token of one's own, and no nonsense", async ({ expect }) => {
    const { kb, baseUrl } = await makeBoth();
    const ben = await gitea.addPerson("ben");
    const add = (token: string) =>
      kb.as(kb.ben).post("/api/accounts", { providerId: "gitea", baseUrl, credentials: { token } });
    expect(await add("nonsense")).toMatchObject({ status: 502, json: { code: "source_unauthorized" } });
    const { status, json } = await add(ben.token);
    expect([status, json.account?.login]).toEqual([201, "ben"]);
    expect(json.account.principal).toBe(`user:gitea:${encodeURIComponent(baseUrl)}:${ben.id}`);
  });
});

/** What a browser of this person does at Gitea: signs in, and grants what is asked. */
async function agree(baseUrl: string, login: string, address: string): Promise<string> {
  const jar = new Map<string, string>();
  const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const answer = await fetch(new URL(url, baseUrl), {
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "), origin: baseUrl },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return answer;
  };
  const signIn = await visit("/user/login");
  await visit("/user/login", { ...hidden(await signIn.text()), user_name: login, password: `throwaway-${login}-1` });
  let answer = await visit(address);
  if (answer.status === 200) {
    const asked = hidden(await answer.text());
    answer = await visit("/login/oauth/grant", { ...asked, granted: "true" });
  }
  const location = answer.headers.get("location") ?? "";
  if (!location.startsWith(CALLBACK)) throw new Error(`Gitea leads to ${answer.status} ${location}`);
  const back = new URL(location);
  return back.pathname + back.search;
}

function hidden(html: string): Record<string, string> {
  const inputs = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(inputs.map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")]));
}
