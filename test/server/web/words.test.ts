import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { ACTS_BY_TOPIC, describeAct } from "#server/web/app/pages/audit/audit-words.ts";
import { describeBrowser } from "#server/web/app/data/browser-words.ts";
import { describeCredential } from "#server/web/app/data/credential-words.ts";
import { Problem, problemBesideFields, toProblem } from "#server/web/app/data/problem.ts";
import { dayEnd, dayStart } from "#server/web/app/pages/audit/days.ts";
import { safeReturnTo } from "#api/return-to.ts";
import { signInAddress } from "#server/web/app/data/return-to.ts";
import { describeTime } from "#server/web/app/ui/time-words.ts";
import { READ_ACTION } from "#storage/read-rows.ts";

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
  expect([0.2, 0.1, -0.2, -5, -90, 60 * 24 * 3, 60 * 24 * 30].map(minutes)).toEqual([
    "in a moment",
    "just now",
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
    "an unknown client",
    "an unknown client",
  ]);
});

test("an act is told by what it was done with: a session may be a browser's or a program's", ({ expect }) => {
  const names = new Map([
    ["ses_2", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"],
    ["ses_3", "kb/0.1.0 (Linux)"],
    ["ses_4", "node"],
    ["tok_2", "Cursor on my laptop"],
    ["gra_2", "Claude"],
  ]);
  const told = (credential: string) => describeCredential(credential, names);
  expect(["session:ses_2", "session:ses_3", "session:ses_4", "session:ses_gone"].map(told)).toEqual([
    "in Firefox on Linux",
    "with the kb command line on Linux",
    "with a script",
    "in a session",
  ]);
  expect(["pat:tok_2", "pat:tok_gone", "oauth:gra_2", "oauth:gra_gone", "key:kk_2", "system"].map(told)).toEqual([
    "with the token “Cursor on my laptop”",
    "with a token",
    "through Claude",
    "through a client",
    "with the connector's key",
    "by the server",
  ]);
});

describe("a row of the audit", () => {
  const names = new Map([
    ["usr_2", "Ben Ito"],
    ["con_2", "packages"],
  ]);
  const told = (action: string, targetType: string, targetId: string, details: Record<string, unknown> = {}) =>
    describeAct({ action, targetType, targetId, details }, names)
      .map(({ text }) => text)
      .join("");

  test("is a sentence with names instead of ids", ({ expect }) => {
    expect([
      told("connector.created", "connector", "con_2"),
      told("member.role_changed", "user", "usr_2", { from: "member", to: "admin" }),
      told("access.explained", "file", "kbi_2", { userId: "usr_2" }),
      told("server.weakened", "server", "settings", { settings: ["KB_RATE_LIMITS", "KB_MODE"] }),
      told("group.deleted", "group", "grp_gone"),
      told("brand.new", "user", "usr_2"),
    ]).toEqual([
      "created the connector packages",
      "changed the role of Ben Ito from member to admin",
      "checked whether Ben Ito can see an item",
      "started with weaker security settings: KB_RATE_LIMITS, KB_MODE",
      "deleted the group (deleted)",
      "did brand.new on Ben Ito",
    ]);
  });

  test("has words for every act that the server records", ({ expect }) => {
    const sources = readdirSync("src/server", { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".ts") && !name.startsWith("web/"),
    );
    const recorded = sources.flatMap((name) => {
      const text = readFileSync(join("src/server", name), "utf8");
      return /audit/i.test(text) ? [...text.matchAll(ACT)].map(([, act = ""]) => act) : [];
    });
    expect(recorded.length).toBeGreaterThan(40);
    const known = new Set(ACTS_BY_TOPIC.flatMap(({ acts }) => Object.keys(acts)));
    expect([...new Set(recorded)].filter((act) => !known.has(act) && act !== READ_ACTION)).toEqual([]);
  });
});

/** `<noun>.<past participle>` of the things that acts are about. */
const ACT =
  /"((?:access|audit|client|connector|consent|grant|group|installation|invitation|items|local_root|member|server|session|token|user|workspace)\.[a-z_]+(?:ed|n|left|over|pt|link_made|network))"/g;

test("days are the reader's own, and a year that is only half typed is none", ({ expect }) => {
  const start = dayStart("2026-11-21");
  expect(start).toBe(new Date(2026, 10, 21).toISOString());
  expect(dayEnd("2026-11-21")).toBe(dayStart("2026-11-22"));
  expect(dayEnd("2026-12-31")).toBe(dayStart("2027-01-01"));
  expect([dayStart(""), dayStart("0202-01-01"), dayStart("x")]).toEqual([undefined, undefined, undefined]);
});
