import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SECRET_FORMATS } from "#text/secrets/formats.ts";
import { findPrivateKeys } from "#text/secrets/private-keys.ts";
import { findTokens } from "#text/secrets/tokens.ts";
import { runs } from "../runs.ts";
import { PLANTED_SECRETS } from "./planted-secrets.ts";
import { findTokensSlowly } from "./slow-tokens.ts";

const starts = SECRET_FORMATS.flatMap(({ starts }) => [...starts]);
const part = fc.oneof(
  fc.constantFrom(...PLANTED_SECRETS.map(({ text }) => text)),
  fc.constantFrom(...PLANTED_SECRETS.map(({ text }) => text.slice(0, text.length / 2))),
  fc.constantFrom(...starts, ...starts.map((start) => start.replaceAll("_", "\\_"))),
  fc.constantFrom(
    "a1B2".repeat(10),
    "f".repeat(32),
    "_",
    "\\_",
    "-",
    ".",
    " ",
    "\n",
    "@host",
    "://",
    "12345678:AA",
    "\u00e9",
  ),
  fc.string({ maxLength: 8 }),
);
const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));

test("one look at each character finds the tokens that trying every format everywhere finds", () => {
  fc.assert(
    fc.property(text, (words) => {
      expect(findTokens(words)).toEqual(findTokensSlowly(words));
    }),
    { numRuns: runs(1_000) },
  );
});

test("of PuTTY's files each goes from its first header near its end, and ends without a header stay", () => {
  const header = "PuTTY-User-Key-File-3: ssh-ed25519\n";
  const end = `Private-MAC: ${"0f".repeat(20)}`;
  const stretch = fc.constantFrom(header, header, end, "Encryption: none\n", "x".repeat(12_000));
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 14 }), (parts) => {
      const words = parts.join("");
      const expected: { start: number; end: number }[] = [];
      let headers: number[] = [];
      for (const { 0: found, index } of words.matchAll(/PuTTY-User-Key-File-[23]: |Private-MAC: [0-9a-f]{40,64}/g)) {
        const endAt = index + found.length;
        if (found.startsWith("PuTTY")) headers.push(index);
        else {
          const start = headers.find((at) => endAt - at <= 20_000);
          if (start !== undefined) expected.push({ start, end: endAt });
          headers = [];
        }
      }
      expect(findPrivateKeys(words).map(({ start, end }) => ({ start, end }))).toEqual(expected);
    }),
    { numRuns: runs(300) },
  );
});
