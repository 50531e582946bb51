import { describe, test } from "vitest";
import { writeLetter, type Letter } from "#server/identity/mail/texts.ts";

const url = "https://kb.test/x#token=abc";
const expiresAt = Date.UTC(2026, 10, 22, 9, 5);

const LETTERS: Letter[] = [
  { type: "invitation", inviter: "Ana", workspace: "Acme", url, expiresAt },
  { type: "sign_up", name: "Bo", url, expiresAt },
  { type: "account_exists", name: "Bo" },
  { type: "verification", name: "Bo", url, expiresAt },
  { type: "email_change", name: "Bo", url, expiresAt },
  { type: "email_changed", name: "Bo", newEmail: "new@acme.test" },
  { type: "password_reset", name: "Bo", url, expiresAt, madeBy: null },
  { type: "password_reset", name: "Bo", url, expiresAt, madeBy: "Ana" },
  { type: "password_changed", name: "Bo", method: "by_person" },
  { type: "password_changed", name: "Bo", method: "by_link" },
  { type: "password_changed", name: "Bo", method: "by_admin_link" },
];

describe("letters", () => {
  test.for(LETTERS)(
    "$type says where it comes from, carries at most one link on a line of its own, and when it ends",
    (letter, { expect }) => {
      const { subject, text } = writeLetter(letter, "kb.test");
      expect(subject.length).toBeLessThan(70);
      expect(`${subject}${text}`).toContain("kb.test");
      expect(text).toMatch(/^Hello/);
      expect(text.split("\n").filter((line) => line.includes("http"))).toEqual("url" in letter ? [url] : []);
      if ("url" in letter) expect(text).toContain("The link works once, until 22 November 2026, 09:05 UTC.");
      expect(text).not.toMatch(/undefined|null|!/);
    },
  );

  test("names may not begin a line of their own", ({ expect }) => {
    const { text } = writeLetter({ type: "invitation", inviter: "Ana", workspace: "Acme", url, expiresAt }, "kb.test");
    expect(text).toBe(`Hello,

Ana invites you to the workspace "Acme" on kb.test. Open this link to join:

${url}

The link works once, until 22 November 2026, 09:05 UTC. If you didn't expect this, ignore this email.

-- 
kb on kb.test
`);
  });

  test("to people who may not know who wrote it holds no words of a stranger and no link of one", ({ expect }) => {
    const name = `You won! http://evil.example/x, www.evil.example, me@evil.example ${"x".repeat(100)}`;
    for (const type of ["sign_up", "verification", "email_change"] as const) {
      expect(writeLetter({ type, name, url, expiresAt }, "kb.test").text).not.toContain("won");
    }
    const { subject, text } = writeLetter(
      { type: "invitation", inviter: name, workspace: name, url, expiresAt },
      "kb.test",
    );
    for (const part of [subject, text.replace(url, "")]) {
      expect(part).toContain("You won! http: evil. example");
      expect(part).not.toMatch(/:\/\/|www\.\w|evil\.\w|\w@/);
    }
    expect(subject.length).toBeLessThan(140);
  });
});
