import { expect, test } from "vitest";
import { type HttpGrant, makeSourceHttpPool } from "#sources/http/pool.ts";
import { thisMachine } from "../../kit/network.ts";

const source: HttpGrant["source"] = {
  spec: { auth: [{ type: "account" }, { type: "credentials", scheme: "bearer", token: "token" }], readsGit: true },
  originOf: () => "https://git.example.com",
};

function gitOf(grant: Partial<HttpGrant>) {
  const pool = makeSourceHttpPool({ guard: thisMachine, now: () => 0 });
  const { signal } = new AbortController();
  return pool.for({ source, config: {}, credentials: {}, signal, ...grant }).git;
}

test("the git program gets the token of the connector, for the connector's own origin alone", async () => {
  const git = gitOf({ credentials: { token: "t0ken" } });
  expect(await git?.credentialsFor("https://git.example.com/acme/web.git")).toEqual({ token: "t0ken" });
  for (const url of [
    "https://evil.example/acme/web.git",
    "http://git.example.com/a/b",
    "https://git.example.com:8443/",
  ]) {
    await expect(git?.credentialsFor(url)).rejects.toMatchObject({ code: "address_not_allowed" });
  }
});

test("the git program gets an account's token of now", async () => {
  let token = "first";
  const origins = ["https://git.example.com"];
  const account = { key: "a", origins, accessToken: async () => token, refresh: async () => token };
  const git = gitOf({ account });
  expect(await git?.credentialsFor("https://git.example.com/a/b")).toEqual({ token: "first" });
  const elsewhere = gitOf({ account: { ...account, origins: ["https://other.example"] } });
  await expect(elsewhere?.credentialsFor("https://git.example.com/a/b")).rejects.toMatchObject({
    code: "address_not_allowed",
  });
  token = "second";
  expect(await git?.credentialsFor("https://git.example.com/a/b")).toEqual({ token: "second" });
});

test("a source that does not read repositories gets no token", () => {
  const spec = { auth: source.spec.auth };
  expect(gitOf({ source: { ...source, spec }, credentials: { token: "t0ken" } })).toBeUndefined();
});
