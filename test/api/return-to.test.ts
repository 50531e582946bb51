import * as fc from "fast-check";
import { describe, test } from "vitest";
import { safeReturnTo } from "#api/return-to.ts";

describe("test 38: where someone comes back to", () => {
  test.for([
    undefined,
    "",
    "settings",
    "//evil.test",
    "///evil.test",
    "/\\evil.test",
    "\\\\evil.test",
    "https:evil.test",
    "https://evil.test",
    "javascript:alert(1)",
    "/\t/evil.test",
    "/\n/evil.test",
    "\t//evil.test",
    " //evil.test",
    "/%2Fevil.test",
    "/%2f%2fevil.test",
    "/%5cevil.test",
    "/..//evil.test",
    "/./\\evil.test",
    "/a/..//evil.test",
    "/.//evil.test",
    "/a\\b",
    "/\u0000",
    "?x=//evil.test",
  ])("%j is the front page", (wanted, { expect }) => {
    expect(safeReturnTo(wanted)).toBe("/");
  });

  test.for([
    ["/", "/"],
    ["/settings/profile?tab=1#x", "/settings/profile?tab=1#x"],
    ["/oauth/authorize?redirect_uri=http%3A%2F%2F127.0.0.1", "/oauth/authorize?redirect_uri=http%3A%2F%2F127.0.0.1"],
    ["/a/../b", "/b"],
    ["/i/kbi_1?next=//evil.test", "/i/kbi_1?next=//evil.test"],
  ] as const)("%j is %j", ([wanted, target], { expect }) => {
    expect(safeReturnTo(wanted)).toBe(target);
  });

  test("never leaves the origin, whatever is asked", ({ expect }) => {
    const piece = fc.constantFrom(
      "/",
      "\\",
      ".",
      "..",
      "%2f",
      "%5c",
      ":",
      "@",
      "evil.test",
      "\t",
      "\n",
      " ",
      "?",
      "#",
      "http",
      "x",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const target = safeReturnTo(pieces.join(""));
        expect(new URL(target, "https://kb.test").origin).toBe("https://kb.test");
        expect(target).not.toMatch(/^\/[/\\]/);
      }),
    );
  });
});
