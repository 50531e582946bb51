import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeVault, parseSecretKeys, type VaultKey, type SealedPlace } from "#storage/vault.ts";
import { verifies } from "../requirements.ts";

const PLACE: SealedPlace = { table: "connector_credentials", row: ["wsp_a", "con_a"], column: "sealed" };
const key = (id: string, fill: number): VaultKey => ({ id, key: new Uint8Array(32).fill(fill) });
const vault = makeVault([key("a", 1)], randomBytes);
const UNREADABLE = expect.objectContaining({ code: "secret_unreadable" });

describe("test 54: the vault", () => {
  verifies("vault:opens-own", "opens what it sealed, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(vault.open(PLACE, vault.seal(PLACE, text))).toBe(text);
      }),
      { numRuns: 50 },
    );
  });

  verifies("vault:shows-nothing", "seals the same text differently every time, and shows nothing of it", () => {
    const sealed = Array.from({ length: 100 }, () => vault.seal(PLACE, "kb-canary-secret"));
    expect(new Set(sealed).size).toBe(100);
    const canary = Buffer.from("kb-canary-secret").toString("base64url").slice(0, 18);
    expect(sealed.filter((text) => text.includes("canary") || text.includes(canary))).toEqual([]);
  });

  verifies("vault:opens-own", "refuses an envelope with any one bit flipped", () => {
    const [version, id, ...parts] = vault.seal(PLACE, "secret").split(".");
    for (const [at, part] of parts.entries()) {
      const bytes = Buffer.from(part, "base64url");
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const changed = [version, id, ...parts.with(at, flipped.toString("base64url"))].join(".");
        expect(() => vault.open(PLACE, changed)).toThrow(UNREADABLE);
      }
    }
  });

  test.each([
    ["another row", { ...PLACE, row: ["wsp_a", "con_b"] }],
    ["another workspace", { ...PLACE, row: ["wsp_b", "con_a"] }],
    ["another column", { ...PLACE, column: "other" }],
    ["another table", { ...PLACE, table: "sessions" }],
    ["a row whose parts are cut elsewhere", { ...PLACE, row: ["wsp_a,con_a"] }],
    ["a row with a part more", { ...PLACE, row: ["wsp_a", "con_a", ""] }],
  ])("refuses an envelope moved to %s", (_what, place) => {
    const sealed = vault.seal(PLACE, "secret");
    expect(() => vault.open(place, sealed)).toThrow(UNREADABLE);
  });

  test.each([
    ["a tag of 4 bytes", (parts: string[]) => parts.with(4, cut(parts[4], 4))],
    ["a tag of 12 bytes", (parts: string[]) => parts.with(4, cut(parts[4], 12))],
    ["no tag", (parts: string[]) => parts.slice(0, 4)],
    ["an empty tag", (parts: string[]) => parts.with(4, "")],
    ["a longer iv", (parts: string[]) => parts.with(2, `${parts[2]}AAAA`)],
    ["another version", (parts: string[]) => parts.with(0, "v2")],
    ["a part more", (parts: string[]) => [...parts, "AAAA"]],
    ["characters that a decoder would skip", (parts: string[]) => parts.with(3, `${parts[3]}!`)],
    ["nothing at all", () => [""]],
  ])("refuses an envelope with %s", (_what, change) => {
    const changed = change(vault.seal(PLACE, "secret").split(".")).join(".");
    expect(() => vault.open(PLACE, changed)).toThrow(UNREADABLE);
  });

  test("refuses an envelope of a key that is not here, and says which", () => {
    const sealed = makeVault([key("old", 9)], randomBytes).seal(PLACE, "secret");
    expect(() => vault.open(PLACE, sealed)).toThrow(/"old"/);
  });

  test("refuses an envelope that only names another key than it was sealed with", () => {
    const twins = makeVault([key("a", 1), key("b", 1)], randomBytes);
    const renamed = twins.seal(PLACE, "secret").replace("v1.a.", "v1.b.");
    expect(() => twins.open(PLACE, renamed)).toThrow(UNREADABLE);
  });

  verifies("vault:keys-change", "the first key seals and every one opens, so keys can be changed", () => {
    const old = vault.seal(PLACE, "secret");
    const rotated = makeVault([key("b", 2), key("a", 1)], randomBytes);
    expect(rotated.open(PLACE, old)).toBe("secret");
    expect(rotated.isOutdated(old)).toBe(true);
    const again = rotated.seal(PLACE, rotated.open(PLACE, old));
    expect(rotated.isOutdated(again)).toBe(false);
    expect(makeVault([key("b", 2)], randomBytes).open(PLACE, again)).toBe("secret");
  });

  verifies("vault:shows-nothing", "no error shows the secret or the key", () => {
    const sealed = vault.seal(PLACE, "kb-canary-secret");
    try {
      vault.open({ ...PLACE, column: "x" }, sealed);
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/canary|AQEBAQ/);
    }
  });
});

describe("KB_SECRET_KEYS", () => {
  const one = Buffer.alloc(32, 1).toString("base64");
  const two = Buffer.alloc(32, 2).toString("base64url");

  test("holds named keys of 32 bytes, in order", () => {
    expect(parseSecretKeys(`b:${two}, a:${one}`)).toEqual([key("b", 2), key("a", 1)]);
  });

  test.each([
    ["no id", one],
    ["an empty id", `:${one}`],
    ["a strange id", `a b:${one}`],
    ["a short key", "a:AAAA"],
    ["no base64", `a:${"!".repeat(44)}`],
    ["an id twice", `a:${one},a:${two}`],
    ["nothing after a comma", `a:${one},`],
  ])("is refused with %s, and the answer shows no key", (_what, text) => {
    const answer = parseSecretKeys(text);
    expect(answer).toEqual({ fault: expect.any(String) });
    expect(JSON.stringify(answer)).not.toContain(one.slice(0, 8));
  });
});

function cut(part: string | undefined, bytes: number): string {
  return Buffer.from(part ?? "", "base64url")
    .subarray(0, bytes)
    .toString("base64url");
}
