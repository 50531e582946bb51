import { canParseUrl } from "#api/parse-url.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isOwnUrl, outsideUrl } from "#api/own-url.ts";
import { runs } from "../runs.ts";

const BASE = "https://kb.acme.test";

test.for([
  "https://kb.acme.test/",
  "https://kb.acme.test/connect#intent=abc",
  "https://kb.acme.test/i/kbi_2222222222222222",
  "https://kb.acme.test/api/accounts/gitea/authorize?returnTo=/search",
  "HTTPS://KB.Acme.TEST/settings",
  "https://kb.acme.test:443/x",
  "http://kb.acme.test/x",
  "http://kb.acme.test:80/x",
  "https://kb.acme.test./x",
  "https://kb.acme.test../x",
  "https://user:pw@kb.acme.test/x",
  "https://evil.test@kb.acme.test/x",
  "https:kb.acme.test/x",
  "https:\\\\kb.acme.test\\x",
  "https://kb%2Eacme.test/x",
  "https://ｋｂ.acme。test/x",
  "https://k\tb.acme.test/\nx",
  "  https://kb.acme.test/x",
  "//kb.acme.test/x",
  "\\\\kb.acme.test/x",
  "/i/kbi_2222222222222222",
  "connect#intent=abc",
])("%j leads to this server", (url) => {
  expect(isOwnUrl(url, BASE)).toBe(true);
  expect(outsideUrl(url, BASE)).toBeUndefined();
});

test.for([
  "https://acme.test/",
  "https://kb.acme.test.evil.test/",
  "https://evil.test/https://kb.acme.test/",
  "https://evil.test/?url=https://kb.acme.test",
  "https://kb.acme.test@evil.test/",
  "https://notkb.acme.test/",
  "https://kb.acme.test:8443/",
])("%s leads elsewhere", (url) => {
  expect(isOwnUrl(url, BASE)).toBe(false);
  expect(outsideUrl(url, BASE)).toBeDefined();
});

test.for([
  ["http://127.0.0.1:7700", "http://localhost:7700/x"],
  ["http://127.0.0.1:7700", "http://evil.localhost:7700/x"],
  ["http://127.0.0.1:7700", "http://[::1]:7700/x"],
  ["http://127.0.0.1:7700", "http://2130706433:7700/x"],
  ["http://127.0.0.1:7700", "http://0x7f.1:7700/x"],
  ["http://localhost:7700", "http://127.0.0.1:7700/x"],
  ["https://bücher.test", "https://xn--bcher-kva.test/x"],
  ["https://xn--bcher-kva.test", "https://BÜCHER.test/x"],
] as const)("%s is reached by %s", ([base, url]) => {
  expect(isOwnUrl(url, base)).toBe(true);
});

test("what leads to this server is told by where a browser would go, in any spelling", () => {
  const scheme = fc.constantFrom("https:", "HTTPS:", "http:");
  const slashes = fc.constantFrom("//", "\\\\", "/\\", "///", "");
  const user = fc.constantFrom("", "a@", "a:b@", "evil.test@", "%40@");
  const host = fc.constantFrom(
    "kb.acme.test",
    "KB.ACME.TEST",
    "kb.acme.test.",
    "kb.acme%2etest",
    "evil.test",
    "kb.acme.test.evil.test",
  );
  const path = fc.constantFrom("", "/", "/i/x", "\\i", "?a", "#intent=x", "/../..//evil.test");
  fc.assert(
    fc.property(scheme, slashes, user, host, path, (...parts) => {
      const text = parts.join("");
      if (!canParseUrl(text)) return;
      const leads = [new URL(text), new URL(text, BASE)].some(
        ({ hostname }) => hostname.replace(/\.+$/, "") === "kb.acme.test",
      );
      expect(isOwnUrl(text, BASE)).toBe(leads);
    }),
    { numRuns: runs(300) },
  );
});
