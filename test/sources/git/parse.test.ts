import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lfsPointerOf, makeAttributes } from "#sources/git-repository/attributes.ts";
import { GitConfig, GitCredentials, isRefName } from "#sources/git-repository/config.ts";
import { FORGES, lineAnchorOf, webPagesOf } from "#sources/git-repository/forges.ts";
import { inMoveOrder } from "#sources/git-repository/moves.ts";
import { originOfRemote, parseRemote, placeOf } from "#sources/git-repository/remote.ts";
import type { TreeChange } from "#sources/git-repository/tree.ts";

const remoteOf = (url: string) => {
  const remote = parseRemote(url);
  if ("fault" in remote) throw new Error(remote.fault);
  return remote;
};

describe("the place of a repository", () => {
  test.each([
    ["https://github.com/acme/web.git", "acme/web", "https://github.com:443"],
    ["https://GitHub.com./acme/web/", "acme/web", "https://github.com:443"],
    ["https://git.corp.test:8443/scm/team/app.git", "team/app", "https://git.corp.test:8443"],
    ["http://127.0.0.1:3000/a/b", "a/b", "http://127.0.0.1:3000"],
    ["https://[2606:4700::1]/a/b.git", "a/b", "https://[2606:4700::1]:443"],
    ["git@github.com:acme/web.git", "acme/web", "ssh://git@github.com:22"],
    ["github.com:acme/web", "acme/web", "ssh://git@github.com:22"],
    ["ssh://deploy@git.corp.test:2222/srv/app.git", "srv/app", "ssh://deploy@git.corp.test:2222"],
    ["https://git.sr.ht/~ana/notes", "~ana/notes", "https://git.sr.ht:443"],
    ["/srv/git/app.git/", "app", "file:"],
    ["/srv/work/app/.git", "app", "file:"],
    ["file:///srv/git/my%20app.git", "my app", "file:"],
  ])("%s is %s at %s", (url, place, origin) => {
    expect([placeOf(remoteOf(url)), originOfRemote(remoteOf(url))]).toEqual([place, origin]);
  });

  test.each([
    "",
    "relative/path",
    "./repo",
    "~/repo",
    "-uhttps://x/y",
    "--upload-pack=touch /tmp/x",
    "ext::sh -c touch% /tmp/x",
    "foo::bar",
    "fd::7",
    "git://host.test/a/b",
    "ftp://host.test/a/b",
    "rsync://host.test/a",
    "gopher://host.test/a",
    "transport::https://host.test/a",
    "https://user:secret@host.test/a",
    "https://token@host.test/a",
    "ssh://git:secret@host.test/a",
    "https://host.test/a?x=1",
    "https://host.test/a#x",
    "https://host.test/",
    "https://host.test/a\nb",
    "https://host.test/\0",
    "ssh://-oProxyCommand=touch/x",
    "-oProxyCommand=x@host.test:a",
    "git@-oProxyCommand=x:a",
    "-x@host.test:a",
    "git@host.test:-x",
    "git@host.test:",
    "file://host.test/srv/a",
    "file:relative",
    "/",
    "//",
  ])("%j is none", (url) => {
    expect(parseRemote(url)).toEqual({ fault: expect.any(String) });
    expect(GitConfig.safeParse({ url }).success).toBe(false);
  });

  test("a fault never repeats what could be a password", () => {
    for (const url of ["https://user:kb-canary@host.test/a", "ssh://git:kb-canary@host.test/a"]) {
      expect(JSON.stringify([parseRemote(url), GitConfig.safeParse({ url }).error])).not.toContain("canary");
    }
  });
});

describe("the name of a branch", () => {
  test.each(["main", "feature/x", "v1.0", "release-2", "ünï", "a@b", "user@{x"])("may be %s", (name) => {
    expect(isRefName(name)).toBe(name !== "user@{x");
  });

  test.each([
    "",
    "--output=x",
    "-b",
    "/x",
    "x/",
    "a..b",
    "a b",
    "a\tb",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[",
    "a\\b",
    "a//b",
    "a.lock",
    "a/.b",
    ".a",
    "a.",
    "@",
    "HEAD@{1}",
    "x\n",
    "\0",
  ])("is never %j", (name) => {
    expect(isRefName(name)).toBe(false);
  });
});

describe("credentials", () => {
  const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n";
  test.each([
    [{ token: "x" }, true],
    [{ token: "x", username: "ana" }, true],
    [{ username: "ana", password: "x" }, true],
    [{ privateKey: key }, true],
    [{ privateKey: key, passphrase: "x" }, true],
    [{}, false],
    [{ username: "ana" }, false],
    [{ password: "x" }, false],
    [{ token: "x", password: "y", username: "ana" }, false],
    [{ token: "x", privateKey: key }, false],
    [{ token: "x", passphrase: "y" }, false],
    [{ token: "two\nlines" }, false],
    [{ token: "nul\0" }, false],
    [{ token: "" }, false],
    [{ privateKey: "ssh-ed25519 AAAA" }, false],
    [{ token: "x", other: "y" }, false],
  ])("%j: %s", (given, isTaken) => {
    expect(GitCredentials.safeParse(given).success).toBe(isTaken);
  });
});

describe("web pages", () => {
  const at = (url: string, path: string, { ref = "main", isTag = false } = {}) =>
    webPagesOf(remoteOf(url), ref, isTag)?.file(path);

  test.each([
    ["https://github.com/a/b.git", "https://github.com/a/b/blob/main/docs/x.md"],
    ["git@github.com:a/b.git", "https://github.com/a/b/blob/main/docs/x.md"],
    ["https://gitlab.com/g/s/b.git", "https://gitlab.com/g/s/b/-/blob/main/docs/x.md"],
    ["https://gitlab.corp.test/g/b", "https://gitlab.corp.test/g/b/-/blob/main/docs/x.md"],
    ["https://bitbucket.org/a/b", "https://bitbucket.org/a/b/src/main/docs/x.md"],
    ["https://codeberg.org/a/b", "https://codeberg.org/a/b/src/branch/main/docs/x.md"],
    ["https://forgejo.corp.test:3000/a/b", "https://forgejo.corp.test:3000/a/b/src/branch/main/docs/x.md"],
    ["https://git.sr.ht/~a/b", "https://git.sr.ht/~a/b/tree/main/item/docs/x.md"],
    ["https://git.corp.test/a/b", undefined],
    ["/srv/git/b.git", undefined],
  ])("of %s are %s", (url, page) => {
    expect(at(url, "docs/x.md")).toBe(page);
  });

  test("encode what a path may hold, and name tags as the host does", () => {
    expect(at("https://github.com/a/b", "d #?/ü%.md", { ref: "feature/x" })).toBe(
      "https://github.com/a/b/blob/feature/x/d%20%23%3F/%C3%BC%25.md",
    );
    expect(at("https://codeberg.org/a/b", "x", { ref: "v1", isTag: true })).toBe(
      "https://codeberg.org/a/b/src/tag/v1/x",
    );
  });

  test("lead to a line, of Markdown too", () => {
    expect(FORGES.map((forge) => [forge, lineAnchorOf(forge, "src/a.ts"), lineAnchorOf(forge, "README.md")])).toEqual([
      ["github", "#L{line}", "?plain=1#L{line}"],
      ["gitlab", "#L{line}", "?plain=1#L{line}"],
      ["bitbucket", "#lines-{line}", "#lines-{line}"],
      ["gitea", "#L{line}", "?display=source#L{line}"],
      ["sourcehut", "#L{line}", "#L{line}"],
      ["none", undefined, undefined],
    ]);
  });

  test("are http(s) for every path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (path) => {
        expect(at("https://github.com/a/b", path)).toMatch(/^https:\/\/github\.com\/a\/b\/blob\/main\/\S*$/);
      }),
    );
  });
});

describe(".gitattributes", () => {
  const judge = async (files: Record<string, string>, path: string) =>
    makeAttributes(async (folder) => files[folder])(path);

  test.each([
    ["*.bin binary", "a.bin", true, false],
    ["*.bin binary", "d/a.bin", true, false],
    ["*.bin binary", "a.txt", false, false],
    ["*.svg -text", "a.svg", false, false],
    ["*.dat -text -diff", "a.dat", true, false],
    ["*.lock -diff", "a.lock", false, false],
    ["*.psd filter=lfs diff=lfs merge=lfs -text", "a.psd", false, true],
    ["* binary\n*.md -binary text diff", "a.md", false, false],
    ["*.md text diff\n* binary", "a.md", true, false],
    ["/top.bin binary", "d/top.bin", false, false],
    ['"a b.bin" binary', "a b.bin", true, false],
    ["[attr]big filter=lfs -text\n*.iso big", "x.iso", false, true],
    ["# *.bin binary\n!*.bin binary", "a.bin", false, false],
    ["", "a.bin", false, false],
    ["[z-a] binary\n*.bin binary", "a.bin", true, false],
  ])("%j: %s is binary %s, lfs %s", async (text, path, isBinary, isLfs) => {
    expect(await judge({ "": text }, path)).toEqual({ isBinary, isLfs });
  });

  test("of inner folders go before those of outer ones", async () => {
    const files = { "": "*.bin binary", text: "*.bin -binary text diff" };
    expect(await judge(files, "text/a.bin")).toEqual({ isBinary: false, isLfs: false });
    expect(await judge(files, "other/a.bin")).toEqual({ isBinary: true, isLfs: false });
  });

  test("that would be tried for ever are not: the test ends", async () => {
    const hostile = Array.from({ length: 5_000 }, (_, i) => `${"**/".repeat(30)}a${i}* binary`).join("\n");
    expect(await judge({ "": hostile }, `${"a/".repeat(60)}b`)).toEqual({ isBinary: false, isLfs: false });
  });
});

test("a pointer of Git LFS says the size of the real file, and nothing else passes for one", () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 1048576\n`;
  expect(lfsPointerOf(pointer)).toEqual({ size: 1_048_576 });
  expect(lfsPointerOf(`# ${pointer}`)).toBeUndefined();
  expect(lfsPointerOf("version https://git-lfs.github.com/spec/v1\nhello\n")).toBeUndefined();
});

describe("the order of renames", () => {
  const rename = (from: string, to: string): TreeChange => ({
    type: "present",
    formerPath: from,
    entry: { mode: "100644", oid: "x", path: to, shown: to },
  });
  const shown = (changes: readonly TreeChange[]) =>
    changes.map((change) =>
      change.type === "gone" ? `-${change.path}` : `${change.formerPath ?? ""}>${change.entry.path}`,
    );

  test("lets each find its place free", () => {
    expect(shown(inMoveOrder([rename("a", "b"), rename("b", "c"), rename("c", "d")]))).toEqual(["c>d", "b>c", "a>b"]);
    expect(shown(inMoveOrder([rename("c", "d"), rename("b", "c"), rename("a", "b")]))).toEqual(["c>d", "b>c", "a>b"]);
  });

  test("gives up on circles alone", () => {
    expect(shown(inMoveOrder([rename("a", "b"), rename("b", "a")])).sort()).toEqual([">a", ">b"]);
    expect(shown(inMoveOrder([rename("x", "y"), rename("a", "a2")]))).toEqual(["x>y", "a>a2"]);
  });

  test("keeps every change, and no rename comes before the one that frees its place", () => {
    const names = fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(names, names, (from, to) => {
        const count = Math.min(from.length, to.length);
        const changes = from.slice(0, count).map((name, i) => rename(`f${name}`, `f${to[i]}`));
        const ordered = inMoveOrder(changes);
        expect(ordered.map((c) => c.type === "present" && c.entry.path).sort()).toEqual(
          changes.map((c) => c.type === "present" && c.entry.path).sort(),
        );
        const left = new Set(
          changes.flatMap((c) => (c.type === "present" && c.formerPath !== undefined ? [c.formerPath] : [])),
        );
        for (const change of ordered) {
          if (change.type !== "present" || change.formerPath === undefined) continue;
          // Its own place may be where it is already; otherwise nobody who still has to leave may live there.
          if (change.entry.path !== change.formerPath) expect(left.has(change.entry.shown)).toBe(false);
          left.delete(change.formerPath);
        }
      }),
    );
  });
});
