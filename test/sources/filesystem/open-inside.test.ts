import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFolderInside, openInside } from "#sources/filesystem/open-inside.ts";
import { openRoot } from "#sources/filesystem/root.ts";
import { flipRace } from "./flip-race.ts";
import { makeFolder } from "./fixture.ts";

async function openTestRoot(folder: ReturnType<typeof makeFolder>) {
  return openRoot(folder.root, { allowedRoots: async () => [folder.root], dataFolder: join(folder.base, "data") });
}

test("a file inside is read from its handle, up to the cap", async () => {
  const folder = makeFolder();
  folder.write("a/b.txt", "hello");
  const file = await openInside(await openTestRoot(folder), "a/b.txt");
  expect(Buffer.from(await file.read(5)).toString()).toBe("hello");
  await expect(file.read(4)).rejects.toMatchObject({ code: "payload_too_large" });
  await file.close();
});

test("a file that grew since it was opened is read whole, or refused above the cap", async () => {
  const folder = makeFolder();
  const path = folder.write("grow.txt", "1");
  const file = await openInside(await openTestRoot(folder), "grow.txt");
  writeFileSync(path, "x".repeat(3_000_000));
  expect((await file.read(3_000_000)).length).toBe(3_000_000);
  await expect(file.read(2_999_999)).rejects.toMatchObject({ code: "payload_too_large" });
  await file.close();
});

test("paths that climb, links, FIFOs, folders, sockets of the system and repository internals are not there", async () => {
  const folder = makeFolder();
  mkdirSync(`${folder.root}-private`);
  writeFileSync(join(`${folder.root}-private`, "secret.txt"), "secret");
  folder.write("ok.txt");
  folder.write(".git/config");
  folder.write("sub/x.txt");
  symlinkSync(join(`${folder.root}-private`, "secret.txt"), join(folder.root, "link.txt"));
  symlinkSync(`${folder.root}-private`, join(folder.root, "linked"));
  symlinkSync("sub", join(folder.root, "inner"));
  execFileSync("/usr/bin/env", ["mkfifo", join(folder.root, "pipe")]);
  const root = await openTestRoot(folder);
  const hostile = [
    "../root-private/secret.txt",
    "..%2froot-private/secret.txt",
    "sub/../../root-private/secret.txt",
    "sub/../ok.txt",
    "./ok.txt",
    "sub//x.txt",
    "/etc/passwd",
    "",
    "ok.txt/",
    "ok.txt\0.md",
    "link.txt",
    "linked/secret.txt",
    "inner/x.txt",
    "pipe",
    "sub",
    ".git/config",
  ];
  for (const rel of hostile) {
    await expect(openInside(root, rel), rel).rejects.toMatchObject({ code: "source_not_found" });
  }
  for (const rel of ["..", "linked", "inner", ".git", "ok.txt", "pipe"]) {
    await expect(openFolderInside(root, rel), rel).rejects.toMatchObject({ code: "source_not_found" });
  }
});

test("a root is allowed only as a real path inside an allowed root, and never a system folder or the data folder", async () => {
  const folder = makeFolder();
  mkdirSync(`${folder.root}-private`);
  mkdirSync(join(folder.root, "sub"));
  mkdirSync(join(folder.root, "data"));
  symlinkSync(join(folder.root, "sub"), join(folder.root, "alias"));
  const places = { allowedRoots: async () => [folder.root, "/proc"], dataFolder: join(folder.root, "data") };
  expect((await openRoot(join(folder.root, "sub"), places)).path).toBe(join(folder.root, "sub"));
  expect((await openRoot(`${folder.root}/`, places)).path).toBe(folder.root);
  for (const root of [
    `${folder.root}-private`,
    `${folder.root}/../root-private`,
    folder.base,
    "/",
    "relative",
    join(folder.root, "alias"),
    join(folder.root, "data"),
    "/proc/self",
  ]) {
    await expect(openRoot(root, places), root).rejects.toMatchObject({ code: "root_not_allowed", field: "root" });
  }
  await expect(openRoot(join(folder.root, "none"), places)).rejects.toMatchObject({ code: "source_unavailable" });
});

test("a folder outside the allowed ones says how to allow it, in a word that a shell takes as it is", async () => {
  const folder = makeFolder();
  const places = { allowedRoots: async () => [folder.root], dataFolder: join(folder.root, "data") };
  const outside = join(folder.base, "it's here");
  await expect(openRoot(outside, places)).rejects.toMatchObject({
    hint: expect.stringContaining(`kb roots add '${folder.base}/it'\\''s here'`),
  });
  const checked = await folder.source.check(folder.context({ root: outside }));
  expect(checked).toMatchObject({ ok: false, problem: { hint: expect.stringContaining("kb roots add ") } });
  // Allowing it again would change nothing.
  mkdirSync(join(folder.root, "data"));
  await expect(openRoot(join(folder.root, "data"), places)).rejects.toMatchObject({ hint: undefined });
});

test("an open folder stays what it was, though its path is exchanged for a link", async ({ skip }) => {
  if (process.platform !== "linux") skip("only Linux names an open folder by its handle");
  const folder = makeFolder();
  folder.write("sub/inside.txt");
  mkdirSync(join(folder.base, "outside"));
  writeFileSync(join(folder.base, "outside", "private-name.txt"), "secret");
  const opened = await openFolderInside(await openTestRoot(folder), "sub");
  renameSync(join(folder.root, "sub"), join(folder.root, "moved"));
  symlinkSync(join(folder.base, "outside"), join(folder.root, "sub"));
  expect(await opened.names()).toEqual(["inside.txt"]);
  await expect(opened.lstat("private-name.txt")).rejects.toMatchObject({ code: "ENOENT" });
  await opened.close();
});

test("content, titles and previews of a private connector are read by the same function", async () => {
  const folder = makeFolder();
  folder.write("a.md", "# A");
  expect(await folder.source.fetchContent?.(folder.context(), { externalId: "a.md" })).toEqual({
    bytes: Buffer.from("# A"),
    fileName: "a.md",
    mimeType: "text/markdown",
  });
  rmSync(join(folder.root, "a.md"));
  await expect(folder.source.fetchContent?.(folder.context(), { externalId: "a.md" })).rejects.toMatchObject({
    code: "source_not_found",
  });
});

test("a link flipped under the reader never shows the outside (2,000 reads)", async () => {
  const folder = makeFolder();
  const outcome = await flipRace(folder, 2_000);
  expect(outcome.leaked).toBe(0);
  // The race is real: both the inside file and a refusal were met.
  expect(outcome.read).toBeGreaterThan(0);
  expect(outcome.refused).toBeGreaterThan(0);
});

test("files of one sync share the check of their root, in turn too; what is read on its own has its own", async ({
  expect,
}) => {
  let checks = 0;
  let isAllowed = true;
  const folder: ReturnType<typeof makeFolder> = makeFolder({
    allowedRoots: async () => {
      checks += 1;
      return isAllowed ? [folder.root] : [];
    },
  });
  const names = Array.from({ length: 100 }, (_, n) => `${n}.md`);
  for (const name of names) folder.write(name);
  const { signal } = new AbortController();
  const ctx = folder.context({}, "workspace", signal);
  const read = (externalId: string, context = ctx) => folder.source.fetchContent?.(context, { externalId });
  const found = await Promise.all(names.map((name) => read(name)));
  expect(found.map((file) => file?.fileName)).toEqual(names);
  expect(checks).toBe(2);
  for (const name of names.slice(0, 20)) await read(name);
  expect(checks).toBe(2);

  isAllowed = false;
  // No file of a sync is begun on a check that is over a second old.
  const later = { ...ctx, now: () => ctx.now() + 1_001 };
  await expect(read("0.md", later)).rejects.toMatchObject({ code: "root_not_allowed" });
  await expect(read("0.md", folder.context())).rejects.toMatchObject({ code: "root_not_allowed" });
  isAllowed = true;
  expect(await read("0.md", later)).toMatchObject({ fileName: "0.md" });
});
