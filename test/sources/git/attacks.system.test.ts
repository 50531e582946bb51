import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeAddressGuard } from "#net/address-guard.ts";
import { folderOf } from "#sources/git-repository/mirror.ts";
import {
  CONNECTOR_ID,
  digestOf,
  git,
  itemsOf,
  makeReader,
  makeRepository,
  SEARCH_PATH,
  tempFolder,
} from "./fixture.ts";
import { verifies } from "../../requirements.ts";

/** A repository with a file, and the secret of somebody else beside it. */
function makeFixture() {
  const repository = makeRepository();
  repository.write("a.md", "mine");
  repository.commit();
  const other = makeRepository();
  other.write("secret.md", "kb-canary");
  const secretCommit = other.commit();
  const secretBlob = other.git("rev-parse", "HEAD:secret.md").trim();
  return { ...repository, other, secretCommit, secretBlob };
}

const NOT_ALLOWED = expect.objectContaining({ code: "root_not_allowed" });

describe("a repository of the server itself", () => {
  verifies(
    "git:own-mirror",
    "is never worked in: no hook, filter, helper or monitor of its configuration runs",
    async () => {
      const { root, base, write, commit, run } = makeFixture();
      const trap = join(base, "trap.sh");
      const sprung = join(base, "sprung");
      writeFileSync(trap, `#!/bin/sh\necho "$0 $@" >> ${sprung}\ncat\n`, { mode: 0o755 });
      for (const [key, value] of [
        ["core.fsmonitor", trap],
        ["core.sshCommand", trap],
        ["core.gitProxy", trap],
        ["core.askPass", trap],
        ["core.pager", trap],
        ["core.alternateRefsCommand", trap],
        ["core.hooksPath", join(root, ".git/hooks")],
        ["credential.helper", `!${trap}`],
        ["diff.external", trap],
        ["diff.trap.textconv", trap],
        ["diff.trap.command", trap],
        ["filter.trap.smudge", trap],
        ["filter.trap.clean", trap],
        ["filter.trap.process", trap],
        ["uploadpack.packObjectsHook", trap],
        ["remote.origin.uploadpack", trap],
        ["remote.origin.url", base],
        ["remote.origin.promisor", "true"],
        ["remote.origin.vcs", "trap"],
        ["extensions.partialClone", "origin"],
        ["gpg.program", trap],
        ["log.showSignature", "true"],
        ["include.path", join(base, "included")],
      ] as const) {
        git(root, "config", key, value);
      }
      mkdirSync(join(root, ".git/hooks"), { recursive: true });
      mkdirSync(join(root, ".git/info"));
      for (const hook of ["post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change", "update"]) {
        writeFileSync(join(root, ".git/hooks", hook), `#!/bin/sh\necho ${hook} >> ${sprung}\n`, { mode: 0o755 });
      }
      writeFileSync(join(root, ".gitattributes"), "* diff=trap filter=trap\n");
      writeFileSync(join(root, ".git/info/attributes"), "* diff=trap filter=trap\n");
      rmSync(sprung, { force: true });
      expect(digestOf(await run())).toEqual(["+a.md", "complete"]);
      // Committing by hand springs the traps of the person's own git: only what we do afterwards counts.
      write("b.md", "b");
      git(
        root,
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "filter.trap.clean=",
        "-c",
        "filter.trap.process=",
        "add",
        "b.md",
        ".gitattributes",
      );
      git(root, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "commit", "--quiet", "-m", "x");
      expect(typeof commit).toBe("function");
      rmSync(sprung, { force: true });
      expect(digestOf(await run()).at(-1)).toBe("complete");
      expect(existsSync(sprung)).toBe(false);
    },
  );

  test.each(["objects/info/alternates", "objects/info/http-alternates", "commondir"])(
    "that takes objects from elsewhere by %s is refused",
    async (rel) => {
      const { root, other, source, context, run, secretCommit } = makeFixture();
      mkdirSync(dirname(join(root, ".git", rel)), { recursive: true });
      writeFileSync(join(root, ".git", rel), `${join(other.root, ".git/objects")}\n`);
      writeFileSync(join(root, ".git/refs/heads/main"), `${secretCommit}\n`);
      expect(await source.check(context())).toMatchObject({ ok: false, problem: { code: "forbidden" } });
      await expect(run()).rejects.toThrow(NOT_ALLOWED);
    },
  );

  verifies("git:no-way-out", "by a .git file, a linked .git or a linked path is refused", async () => {
    const { base, root, other, allowed } = { ...makeFixture(), allowed: ["work", "linked", "linkdir"] };
    for (const name of allowed.slice(0, 2)) mkdirSync(join(base, name));
    writeFileSync(join(base, "work/.git"), `gitdir: ${join(other.root, ".git")}\n`);
    symlinkSync(join(other.root, ".git"), join(base, "linked/.git"));
    symlinkSync(root, join(base, "linkdir"));
    for (const name of allowed) {
      const { source, context, run } = makeReader(base, join(base, name));
      expect([name, await source.check(context())]).toMatchObject([name, { ok: false }]);
      await expect(run()).rejects.toThrow();
    }
  });

  test.each([
    ["objects", (git: string) => join(git, "objects")],
    ["objects/pack", (git: string) => join(git, "objects/pack")],
    [
      "a folder of objects",
      (git: string) => join(git, "objects", readdirSync(join(git, "objects")).find((n) => n.length === 2) ?? ""),
    ],
  ])("gives nothing through a link in the place of %s", async (_what, placeOf) => {
    const { root, other, run, secretCommit, versions } = makeFixture();
    other.git("repack", "-a", "-d", "--quiet");
    const mine = placeOf(join(root, ".git"));
    const theirs = join(other.root, ".git", mine.slice(join(root, ".git").length));
    if (existsSync(mine)) renameSync(mine, `${mine}.away`);
    symlinkSync(existsSync(theirs) ? theirs : join(other.root, ".git/objects"), mine);
    writeFileSync(join(root, ".git/refs/heads/main"), `${secretCommit}\n`);
    await expect(run()).rejects.toThrow(expect.objectContaining({ code: "source_unavailable" }));
    expect([...versions.keys()]).toEqual([]);
  });

  verifies("git:no-way-out", "gives nothing through a linked pack, ref or object", async () => {
    const { root, other, run, secretCommit, secretBlob } = makeFixture();
    const loose = (repository: string, oid: string) => join(repository, ".git/objects", oid.slice(0, 2), oid.slice(2));
    for (const oid of [secretCommit, secretBlob, other.git("rev-parse", "HEAD^{tree}").trim()]) {
      mkdirSync(dirname(loose(root, oid)), { recursive: true });
      symlinkSync(loose(other.root, oid), loose(root, oid));
    }
    other.git("gc", "--quiet");
    const pack = readdirSync(join(other.root, ".git/objects/pack")).find((name) => name.endsWith(".pack")) ?? "";
    mkdirSync(join(root, ".git/objects/pack"), { recursive: true });
    symlinkSync(join(other.root, ".git/objects/pack", pack), join(root, ".git/objects/pack", pack));
    writeFileSync(join(root, ".git/refs/heads/main"), `${secretCommit}\n`);
    await expect(run()).rejects.toThrow(expect.objectContaining({ code: "source_unavailable" }));
    rmSync(join(root, ".git/refs/heads/main"));
    symlinkSync(join(other.root, ".git/refs/heads/main"), join(root, ".git/refs/heads/main"));
    expect(digestOf(await run())).toEqual(["complete"]);
  });

  verifies("git:true-objects", "can't pass another text under an object's name", async () => {
    const { root, run } = makeFixture();
    const blob = git(root, "rev-parse", "HEAD:a.md").trim();
    const path = join(root, ".git/objects", blob.slice(0, 2), blob.slice(2));
    const other = git(root, "hash-object", "-w", "--stdin-paths", "--no-filters");
    expect(other).toBe("");
    writeFileSync(join(root, "x"), "another text");
    const oid = git(root, "hash-object", "-w", "x").trim();
    chmodSync(path, 0o644);
    cpSync(join(root, ".git/objects", oid.slice(0, 2), oid.slice(2)), path, { force: true });
    // The false object is not taken over, so the file has no content here.
    expect(itemsOf(await run()).map(({ externalId, content }) => [externalId, content.type])).toEqual([
      ["a.md", "none"],
    ]);
  });

  verifies(
    "git:allowed-roots",
    "outside the allowed folders, or in kb's own, is refused and not looked at",
    async () => {
      const { base, root } = makeFixture();
      const elsewhere = tempFolder();
      for (const url of [root, join(root, ".."), "/etc", "/", join(elsewhere, "no")]) {
        if (url === "/") continue;
        const { source, context } = makeReader(elsewhere, url, {
          allowedRoots: async () => [join(elsewhere, "allowed")],
        });
        expect([url, await source.check(context())]).toMatchObject([
          url,
          { ok: false, problem: { code: "forbidden" } },
        ]);
      }
      const own = makeReader(base, join(base, "data/git", CONNECTOR_ID, "mirror.git"));
      expect(await own.source.check(own.context())).toMatchObject({ ok: false });
      const sibling = makeReader(base, root, { allowedRoots: async () => [root.slice(0, -1)] });
      expect(await sibling.source.check(sibling.context())).toMatchObject({
        ok: false,
        problem: { code: "forbidden" },
      });
    },
  );

  verifies("git:allowed-roots", "is off where strangers own workspaces, and for members always", async () => {
    const { base, root } = makeFixture();
    const { source, context, run } = makeReader(base, root, { isOpenToStrangers: true });
    expect(await source.check(context())).toMatchObject({ ok: false, problem: { code: "forbidden" } });
    await expect(run()).rejects.toThrow(NOT_ALLOWED);
    const isForAdmins = (url: string, hasCredentials: boolean) =>
      source.isForAdmins?.({ ...context().config, url }, { hasCredentials });
    expect([
      isForAdmins(root, true),
      isForAdmins("https://a.test/b", false),
      isForAdmins("https://a.test/b", true),
    ]).toEqual([true, true, false]);
  });
});

describe("a configuration", () => {
  verifies(
    "git:config-runs-nothing",
    "from an older version that holds what the schema now refuses runs nothing",
    async () => {
      const base = tempFolder();
      const { source, context } = makeReader(base, join(base, "x"));
      const trap = join(base, "sprung");
      for (const url of [
        `ext::sh -c touch% ${trap}`,
        `--upload-pack=touch ${trap}`,
        `-oProxyCommand=touch ${trap}@h:x`,
      ]) {
        const ctx = context();
        expect(await source.check({ ...ctx, config: { ...ctx.config, url } })).toMatchObject({ ok: false });
      }
      for (const ref of [`--output=${trap}`, "-x", "a b", "refs/heads/../../x"]) {
        const ctx = context();
        expect(await source.check({ ...ctx, config: { ...ctx.config, ref } })).toMatchObject({ ok: false });
      }
      expect(existsSync(trap)).toBe(false);
    },
  );

  test("names no folder of a connector but its own", () => {
    for (const id of ["", "..", "../x", "con_../x", "con_A", "con_", "x"]) {
      expect(() => folderOf({ folder: "/data/git" }, id)).toThrow(RangeError);
    }
    expect(folderOf({ folder: "/data/git" }, CONNECTOR_ID)).toBe(`/data/git/${CONNECTOR_ID}`);
  });

  verifies(
    "git:config-runs-nothing",
    "with every spelling of this machine is refused before git is started",
    async () => {
      const base = tempFolder();
      const guard = makeAddressGuard({
        privateHosts: [],
        isOwn: () => false,
        lookup: async (host) => [{ address: host === "rebind.test" ? "127.0.0.1" : "10.0.0.1", family: 4 }],
      });
      for (const url of [
        "https://127.0.0.1/a/b",
        "https://2130706433/a/b",
        "https://0x7f.1/a/b",
        "https://[::ffff:127.0.0.1]/a/b",
        "https://[64:ff9b::7f00:1]/a/b",
        "https://169.254.169.254/a/b",
        "https://rebind.test/a/b",
        "https://intern.test/a/b",
        "git@127.0.0.1:a/b",
        "git@0x7f000001:a/b",
        "ssh://git@rebind.test/a/b",
        "https://93.184.216.34:22/a/b",
        "ssh://git@93.184.216.34:8022/a/b",
        "http://93.184.216.34/a/b",
      ]) {
        const { source, context } = makeReader(base, url, { guard, searchPath: "/nonexistent" });
        expect([url, await source.check(context())]).toMatchObject([
          url,
          { ok: false, problem: { code: "forbidden" } },
        ]);
      }
    },
  );
});

test("a machine without git says so", async () => {
  const base = tempFolder();
  expect(await makeReader(base, base, { searchPath: base }).source.unavailable?.()).toMatch(/not installed/);
  expect(await makeReader(base, base, { searchPath: SEARCH_PATH }).source.unavailable?.()).toBeUndefined();
  const old = join(base, "git");
  writeFileSync(old, "#!/bin/sh\necho git version 2.30.2\n", { mode: 0o755 });
  expect(await makeReader(base, base, { searchPath: `${base}:/bin` }).source.unavailable?.()).toMatch(/too old/);
});
