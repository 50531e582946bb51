import { test } from "vitest";
import { makeAccountKeeper } from "#server/accounts/tokens.ts";
import { gitea } from "#sources/account-providers/gitea.ts";
import { FAKE_CLIENT, startFakeProvider } from "./fake-provider.ts";
import { makeAccountServer } from "./server.ts";

async function makeBoth() {
  const provider = await startFakeProvider();
  const kb = await makeAccountServer({ gitea: { baseUrl: provider.url, ...FAKE_CLIENT } });
  return { provider, kb };
}

test("an answer with tokens that has no end leads back, like any other failure", async ({ expect }) => {
  const { kb, provider } = await makeBoth();
  const back = provider.agree(await kb.begin(kb.anna, "gitea", { returnTo: "/search" }), { id: 7, login: "anna" });
  provider.fault = (_form, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const pour = () => {
      while (!response.destroyed)
        if (!response.write(" ".repeat(1024 * 1024))) return void response.once("drain", pour);
    };
    pour();
    return true;
  };
  expect(await kb.go(kb.anna, back)).toMatchObject({
    status: 302,
    location: "/search?account=failed&reason=unavailable",
  });
});

test("scopes and names of any length and with any characters are cut and cleaned", async ({ expect }) => {
  const { kb, provider } = await makeBoth();
  const user = { id: 7, login: `an\u202ena\n${"a".repeat(100_000)}` };
  const back = provider.agree(await kb.begin(kb.anna, "gitea", { returnTo: "/search" }), user);
  provider.scope = `read:user ${"x".repeat(5_000)} \u202eevil ${"s ".repeat(5_000)}`;
  const { location } = await kb.go(kb.anna, back);
  const { json } = await kb.as(kb.anna).post("/api/accounts/found", { id: location.split("#found=")[1] });
  const { label, login, scopes } = json.found;
  expect(label.length).toBeLessThanOrEqual(200);
  expect(login).toMatch(/^an ?na a+/);
  expect(login.length).toBeLessThanOrEqual(200);
  expect(scopes.slice(0, 2)).toEqual(["read:user", "s"]);
  expect(scopes.length).toBe(200);
});

test("a provider that doesn't answer in time is unavailable", async ({ expect }) => {
  const keeper = makeAccountKeeper({
    // The rest of it is for accounts that are kept.
    ...({} as Parameters<typeof makeAccountKeeper>[0]),
    askMs: 5,
    http: {
      for: ({ signal }) =>
        ({
          http: {
            request: () => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
          },
        }) as never,
    },
  });
  const place = { baseUrl: "https://git.example", apiUrl: "https://git.example/api/v1" };
  const way = keeper.wayTo(gitea, place as Parameters<typeof keeper.wayTo>[1]);
  await expect(way.request({ url: "https://git.example/" })).rejects.toMatchObject({ code: "source_unavailable" });
});
