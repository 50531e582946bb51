import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, test } from "vitest";
import { complete } from "#cli/start/complete.ts";
import { tempDir } from "../temp-dir.ts";
import { kb, makeWorld } from "./fakes.ts";

const words = (...line: string[]): string[] => complete(line).map(({ word }) => word);

describe("completion", () => {
  test.for([
    [["to"], ["tokens"]],
    [["con"], ["context", "connectors"]],
    [
      ["tokens", ""],
      ["list", "create", "revoke"],
    ],
    [["tokens", "l"], ["list"]],
    [["help", "tok"], ["tokens"]],
    [["help", "tokens", "c"], ["create"]],
    [["search", "plan", "--ki"], ["--kind"]],
    [["search", "plan", "--kind", "m"], ["message"]],
    [["search", "--json", "ti"], ["title"]],
    [["search", "--json", "kbId,ti"], ["kbId,title"]],
    [["search", "--kind", "page", "--ki"], []],
    [["connectors", "new", "push", "--set", "a=b", "--se"], ["--set"]],
    [["tokens", "rm", "tok_1", "--u"], ["--url"]],
    [["bridge", "--log"], ["--log-file"]],
    [["members", "role", "--url", "http://x", "bo@example.com", "a"], ["admin"]],
    [["members", "role", "ad"], []],
    [["audit", "export", "-o", ""], []],
    [["search", "--", "--"], []],
    [["no-such", ""], []],
  ] as [string[], string[]][])("of %j is %j", ([line, expected], { expect }) => {
    expect(words(...line)).toEqual(expected);
  });

  test("is printed a line each, with what it is", async ({ expect }) => {
    const run = await kb(makeWorld(), "__complete", "tokens", "r");
    expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/^revoke\t\S.*\n$/)]);
  });

  test.for(["bash", "zsh", "fish"])("kb completion %s prints a script that asks kb", async (shell, { expect }) => {
    const { code, stdout } = await kb(makeWorld(), "completion", shell);
    expect([code, stdout]).toEqual([0, expect.stringContaining("__complete")]);
  });

  test("another shell is refused with those that there are", async ({ expect }) => {
    const run = await kb(makeWorld(), "completion", "tcsh");
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("bash, zsh, fish")]);
  });

  test("in bash the script gives what kb answers", async ({ expect }) => {
    const dir = tempDir();
    const { stdout: script } = await kb(makeWorld(), "completion", "bash");
    writeFileSync(join(dir, "kb"), '#!/bin/sh\nshift\nprintf "%s\\tgiven\\n" "$#" "$@"\n');
    chmodSync(join(dir, "kb"), 0o755);
    writeFileSync(
      join(dir, "run.sh"),
      `${script}\nCOMP_WORDS=(kb files get "a b")\nCOMP_CWORD=3\n_kb\nprintf '[%s]' "\${COMPREPLY[@]}"\n`,
    );
    const env = { PATH: [dir, process.env["PATH"]].join(delimiter) };
    const run = spawnSync("bash", ["--norc", join(dir, "run.sh")], { env, encoding: "utf8" });
    expect([run.stderr, run.stdout]).toEqual(["", "[3][files][get][a b]"]);
  });
});
