import { readFileSync } from "node:fs";
import { test } from "vitest";
import { VERSION } from "#api/version.ts";
import { COMMANDS } from "#cli/generated/table.ts";
import { makeCliReference } from "#cli/line/reference.ts";

const root = new URL("../..", import.meta.url);

test("the reference names every command once, and the file is the one that the table makes", ({ expect }) => {
  const text = makeCliReference(COMMANDS);
  for (const spec of COMMANDS) expect(text.split(new RegExp(`^## \`kb ${spec.name}[ \`]`, "m")).length).toBe(2);
  expect(readFileSync(new URL("docs/reference/cli.md", root), "utf8")).toBe(text);
});

test("the version is the package's", ({ expect }) => {
  // package.json has a version; it is ours.
  const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { version: string };
  expect(VERSION).toBe(version);
});

test("no document names a credential, and each shell line of the clients' page is one of ours or of its client", ({
  expect,
}) => {
  const page = readFileSync(new URL("docs/clients.md", root), "utf8");
  expect(page).not.toMatch(/kb_pat_[A-Za-z0-9]/);
  const shell = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap((match) => (match[1] ?? "").trim().split("\n"));
  expect(shell.length).toBeGreaterThan(5);
  for (const line of shell) expect(line).toMatch(/^(kb|claude|codex|gemini|code|export KB_TOKEN) ?/);
});
