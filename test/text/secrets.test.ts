import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskedOffset } from "#text/secrets/cut.ts";
import { maskSecrets } from "#text/secrets/mask.ts";
import { beforeOpenToken } from "#text/secrets/tokens.ts";
import { PLANTED_SECRETS } from "./planted-secrets.ts";
import { verifies } from "../requirements.ts";

describe("masking of secrets", () => {
  verifies("secrets:masked", "each of the planted secrets goes, whatever it stands in", () => {
    expect(PLANTED_SECRETS.length).toBeGreaterThanOrEqual(60);
    const frames: ((secret: string) => string)[] = [
      (secret) => secret,
      (secret) => `The value is ${secret}, do not share it.`,
      (secret) => `{"token": "${secret}"}`,
      (secret) => `export TOKEN=${secret}\necho done`,
      (secret) => `| name | ${secret} |`,
      (secret) => `\`${secret}\``,
      (secret) => `密钥：${secret}。`,
    ];
    for (const { label, text, secret } of PLANTED_SECRETS) {
      for (const frame of frames) {
        const masked = maskSecrets(frame(text));
        expect(masked.text, `${label} in ${frame("…")}`).toContain(`[removed: ${label}]`);
        expect(masked.text.includes(secret), `${label} in ${frame("…")}`).toBe(false);
      }
    }
  });

  test("what stands around a secret stays", () => {
    const [aws] = PLANTED_SECRETS;
    expect(maskSecrets(`key: ${aws?.text}\nregion: eu-west-1`).text).toBe("key: [removed: aws key]\nregion: eu-west-1");
    expect(maskSecrets("postgres://kb:hunter2secret@db.example/kb?ssl=1").text).toBe(
      "postgres://kb:[removed: password]@db.example/kb?ssl=1",
    );
  });

  verifies("secrets:harmless-stays", "text that only looks a little like a secret is left alone", () => {
    const innocent = [
      "AKIA is how an AWS key begins; AKIAIOSFODNN7EXAMPLETOOLONGTOBEAKEY is none.",
      "https://example.com/assets/SKU-1234567890abcdef1234567890abcdef/index.html",
      "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "git commit 356a192b7913b04c54574d18c28d46e6395428ab",
      "kbi_abcdefgh23456789 con_abcdefgh23456789 ghp_short npm_install_everything_again_please",
      "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
      "A file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
      "postgres://user:password@localhost/db and postgres://app:$PGPASSWORD@db/app and redis://host:6379/0",
      "risk-averse task-oriented desk-proj-management-with-a-very-long-hyphenated-name-in-it",
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "eyJhbGciOiJIUzI1NiJ9 alone is the head of a web token",
      "x86_64-linux-gnu-gcc-12-base/usr/share/doc/something/very/long/path/to/a/file.html",
      "secret_access_key = ${AWS_SECRET_ACCESS_KEY_FROM_THE_VAULT_OF_OUR_TEAM}",
    ];
    for (const text of innocent) expect(maskSecrets(text)).toEqual({ text, cuts: [] });
  });

  test("a text that was cut ends before a token that the cut went through", () => {
    for (const { label, text, secret } of PLANTED_SECRETS) {
      const whole = `The value is ${text}`;
      for (let end = 13; end < whole.length; end++) {
        const shown = maskSecrets(beforeOpenToken(whole.slice(0, end))).text;
        expect(shown.includes(secret.slice(0, 12)), `${label} cut at ${end - 13}`).toBe(false);
      }
    }
  });

  test("a cut that goes through no token loses nothing", () => {
    const texts = [
      "",
      "task-list of the desk",
      "see https://example.com/a/b-c",
      "secret_access_key = none, and so",
      "SK-1 is a fridge",
    ];
    for (const text of texts) expect(beforeOpenToken(text)).toBe(text);
    const whole = `push with ${PLANTED_SECRETS.find(({ label }) => label === "github token")?.text}`;
    expect(beforeOpenToken(whole)).toBe(whole);
  });

  test("offsets after masking point at the same characters", () => {
    const secrets = fc.constantFrom(...PLANTED_SECRETS.map(({ text }) => text));
    const words = fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[^ a-z\n]/g, " "));
    fc.assert(
      fc.property(fc.array(fc.oneof(words, secrets), { maxLength: 12 }), (parts) => {
        const text = parts.map((part) => ` ${part} `).join("|");
        const masked = maskSecrets(text);
        expect(maskSecrets(masked.text).cuts).toEqual([]);
        for (let at = text.indexOf("|"); at >= 0; at = text.indexOf("|", at + 1))
          expect(masked.text[maskedOffset(masked.cuts, at)]).toBe("|");
        expect(maskedOffset(masked.cuts, text.length)).toBe(masked.text.length);
      }),
      { numRuns: 300 },
    );
  });

  test("a hostile text costs no more than its length", () => {
    const texts = ["eyJ".repeat(300_000), "-----BEGIN PRIVATE KEY-----\n".repeat(20_000), "postgres://".repeat(80_000)];
    for (const text of texts) expect(maskSecrets(`${text} end`).text.endsWith(" end")).toBe(true);
  });
});
