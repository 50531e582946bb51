import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MetadataFault } from "#api/metadata-fault.ts";
import { describeFault, shownUrl } from "#mcp-client/metadata-fault.ts";
import { hostileText } from "../api/hostile-text.ts";
import { runs } from "../runs.ts";

describe("a URL of a stranger", () => {
  test.each([
    ["https://b.example/mcp", "https://b.example/mcp"],
    // Two issuers can differ by a slash alone.
    ["https://b.example", "https://b.example"],
    ["https://b.example/", "https://b.example/"],
    ["https://b.example/mcp?key=PLANTED#PLANTED", "https://b.example/mcp"],
    ["https://PLANTED:PLANTED@b.example/mcp", "https://b.example/mcp"],
    ["https://b\u202E.example/\u202Eevil", null],
    ["https://b.example/\u202Eevil\u0007 <b>", "https://b.example/%E2%80%AEevil%07%20%3Cb%3E"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["javascript:alert(1)", null],
    ["PLANTED", null],
    [" ", null],
    [`https://b.example/${"x".repeat(3_000)}`, null],
  ])("%j is shown as %j", (text, shown) => expect(shownUrl(text)).toBe(shown));

  test("is at most 200 printable characters, whatever it is", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const url of [
          text,
          `https://b.example/${text}`,
          `https://${text}.example/`,
          `https://b.example/?${text}`,
        ]) {
          expect(shownUrl(url) ?? "").toMatch(/^[!-~]{0,199}[!-~…]?$/);
        }
      }),
      { numRuns: runs(300) },
    );
    expect(shownUrl(`https://b.example/${"x".repeat(500)}`)).toHaveLength(200);
  });
});

test.each<[MetadataFault, string]>([
  [
    { field: "metadata", problem: "missing", found: null, expected: "https://a.example" },
    "There is no usable OAuth metadata for https://a.example.",
  ],
  [
    { field: "resource", problem: "differs", found: "https://b.example/mcp", expected: "http://127.0.0.1:7701/mcp" },
    "The metadata names the resource https://b.example/mcp, but the server is http://127.0.0.1:7701/mcp.",
  ],
  [
    { field: "resource", problem: "differs", found: null, expected: "https://a.example/mcp" },
    "The metadata describes a different resource than the server, which is https://a.example/mcp.",
  ],
  [
    { field: "issuer", problem: "differs", found: "https://a.example/", expected: "https://a.example" },
    "The metadata of the authorization server https://a.example names the issuer https://a.example/.",
  ],
  [
    { field: "issuer", problem: "differs", found: "https://a.example", expected: "https://a.example" },
    "The metadata of the authorization server https://a.example names a different issuer.",
  ],
  [
    { field: "token_endpoint", problem: "unusable", found: "http://tokens.example/", expected: null },
    "The token endpoint http://tokens.example/ doesn't use https.",
  ],
  [
    { field: "authorization_endpoint", problem: "unusable", found: null, expected: null },
    "The authorization endpoint isn't a URL that kb can use.",
  ],
])("%j is said in a sentence", (fault, sentence) => expect(describeFault(fault)).toBe(sentence));
