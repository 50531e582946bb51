import { expect, test } from "vitest";
import { redact } from "#core/redact.ts";

test.each([
  ["GET https://anna:planted@a.test/x?key=planted failed", "GET https://…@a.test/x failed"],
  ["see 1http://planted@a.test", "see 1http://…@a.test"],
  ["git+ssh://planted:x@a.test, then ftp://planted@b.test", "git+ssh://…@a.test, then ftp://…@b.test"],
  ["Authorization: Bearer planted-planted", "Authorization: … …"],
])("%s is kept without its secrets", (text, kept) => {
  const safe = redact(text);
  expect(safe).not.toContain("planted");
  expect(safe.replace(/\s+/g, " ")).toBe(kept);
});
