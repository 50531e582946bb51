import * as fc from "fast-check";
import { describe, test } from "vitest";
import { describeBrowser } from "#server/web/app/browser-words.ts";
import { describeCredential } from "#server/web/app/credential-words.ts";
import { Problem, problemBesideFields, toProblem } from "#server/web/app/data/problem.ts";
import { safeReturnTo } from "#api/return-to.ts";
import { signInAddress } from "#server/web/app/return-to.ts";
import { describeTime } from "#server/web/app/ui/time-words.ts";

describe("where a person goes after signing in", () => {
  test.for([
    ["/settings/profile", "/settings/profile"],
    ["/i/kbi_2222222222222222?x=1#part", "/i/kbi_2222222222222222?x=1#part"],
    ["/oauth/consent/abc", "/oauth/consent/abc"],
    ["//evil.test", "/"],
    ["/\\evil.test", "/"],
    ["\\\\evil.test", "/"],
    ["https:evil.test", "/"],
    ["https://evil.test/", "/"],
    ["javascript:alert(1)", "/"],
    ["/\t/evil.test", "/"],
    ["/\n//evil.test", "/"],
    ["/..//evil.test", "/"],
    ["/.//evil.test/x", "/"],
    ["/%2e%2e//evil.test", "/"],
    ["settings", "/"],
    ["", "/"],
    [undefined, "/"],
  ] as const)("%j leads to %j", ([asked, target], { expect }) => {
    expect(safeReturnTo(asked)).toBe(target);
  });

  test("nothing leads to another site, whatever was asked", ({ expect }) => {
    const pieces = fc.constantFrom(
      "/",
      "\\",
      ".",
      "..",
      "%2f",
      "%5c",
      "evil.test",
      "@",
      ":",
      "?",
      "#",
      "\t",
      "https:",
      "a",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const target = safeReturnTo(parts.join(""));
        expect(new URL(target, "https://kb.test").origin).toBe("https://kb.test");
        expect(safeReturnTo(target)).toBe(target);
      }),
      { numRuns: 2_000 },
    );
  });

  test("the way to the sign-in page carries where to come back to", ({ expect }) => {
    expect(signInAddress("/i/kbi_2?a=b")).toBe("/sign-in?returnTo=%2Fi%2Fkbi_2%3Fa%3Db");
    expect(signInAddress("/")).toBe("/sign-in");
  });
});

describe("a problem", () => {
  test("is shown beside the fields it names, and above the button only what no field shows", ({ expect }) => {
    const weak = new Problem({ code: "password_too_weak", detail: "Too short.", field: "password", status: 422 });
    expect(weak.fields).toEqual({ password: "Too short." });
    expect(problemBesideFields(weak, ["email", "password"])).toBeUndefined();
    expect(problemBesideFields(weak, ["email"])).toBe(weak);
    const several = new Problem({
      errors: [
        { path: "name", message: "Empty." },
        { path: "email", message: "None." },
      ],
    });
    expect(several.fields).toEqual({ name: "Empty.", email: "None." });
    const plain = new Problem({ code: "conflict", detail: "Taken." });
    expect(problemBesideFields(plain, ["name"])).toBe(plain);
  });

  test("is made of a request that got no answer", ({ expect }) => {
    expect(toProblem(new TypeError("fetch failed"))).toMatchObject({ code: "no_answer", fields: {} });
  });
});

test("moments near now are told in words, others as a date", ({ expect }) => {
  const now = Date.UTC(2026, 10, 21, 9, 30);
  const minutes = (n: number) => describeTime(now + n * 60_000, now);
  expect([0.2, -0.2, -5, -90, 60 * 24 * 3, 60 * 24 * 30].map(minutes)).toEqual([
    "in a moment",
    "just now",
    "5 minutes ago",
    "1 hour ago",
    "in 3 days",
    "21 Dec 2026",
  ]);
});

test("browsers and credentials are named in a few words", ({ expect }) => {
  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
  const safari =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Mobile Safari/604.1";
  expect([firefox, safari, firefox.slice(0, 40), "kb/0.1.0", "", null].map(describeBrowser)).toEqual([
    "Firefox on Linux",
    "Safari on iOS",
    "a browser on Linux",
    "kb command line",
    "an unknown program",
    "an unknown program",
  ]);
  expect(["session:ses_2", "pat:tok_2", "system", "strange:x"].map(describeCredential)).toEqual([
    "in a browser",
    "by token tok_2",
    "by the system",
    "strange:x",
  ]);
});
