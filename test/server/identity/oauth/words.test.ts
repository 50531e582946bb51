import { describe, test } from "vitest";
import { readClientMetadata } from "#server/identity/oauth/clients.ts";
import { fetchDocument } from "#server/identity/oauth/documents.ts";
import { refusalPage } from "#server/identity/oauth/error-page.ts";
import type { GuardedFetch } from "#net/guarded-fetch.ts";

const CLIENT = "https://app.example.com/client.json";
const RULES = { isLoopbackAllowed: true } as never;

describe("a client's document", () => {
  /** How long it counts, in seconds, with this header. */
  async function freshFor(cacheControl: string | undefined): Promise<number | string> {
    const document = { client_id: CLIENT, client_name: "App", redirect_uris: ["https://app.example.com/callback"] };
    const answer = {
      status: 200,
      headers: { "cache-control": cacheControl },
      body: Buffer.from(JSON.stringify(document)),
    };
    const fetch = (async () => answer) as unknown as GuardedFetch;
    const read = await fetchDocument(fetch, CLIENT, RULES);
    return read.type === "document" ? read.freshMs / 1000 : read.why;
  }

  test("counts for as long as it says, a minute at least and a day at most", async ({ expect }) => {
    expect(await freshFor(undefined)).toBe(60);
    expect(await freshFor("no-store")).toBe(60);
    expect(await freshFor("public, max-age=5")).toBe(60);
    expect(await freshFor("max-age = 3600, private")).toBe(3_600);
    expect(await freshFor("max-age=999999999")).toBe(86_400);
    expect(await freshFor("s-maxage=4000")).toBe(60);
  });

  test("names an address to return to", ({ expect }) => {
    for (const uris of [[], undefined, "https://app.example.com/callback"]) {
      expect(() => readClientMetadata({ redirect_uris: uris }, "app.example.com", RULES)).toThrow(
        "redirect_uris must contain at least one address.",
      );
    }
  });
});

test("a page of a refusal says in how many seconds to try again", ({ expect }) => {
  const page = (retryAfterMs?: number) => {
    const failure = { code: "rate_limited", message: "Too many.", ...(retryAfterMs !== undefined && { retryAfterMs }) };
    return JSON.stringify(refusalPage(failure as never, "req_1"));
  };
  expect(page(800)).toContain("start again in 1 second.");
  expect(page(2_500)).toContain("start again in 3 seconds.");
  expect(page()).toContain("start again. If");
});
