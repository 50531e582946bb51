import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commitRaw, digestOf, itemsOf, makeRepository } from "./fixture.ts";

/** A repository with these files beside `plain.md`; names and texts are Latin-1. */
function makeNamed() {
  const repository = makeRepository();
  const { root, commit, write } = repository;
  const writeBytes = (rel: string, text: string) => {
    const path = Buffer.from(`${root}/${rel}`, "latin1");
    mkdirSync(path.subarray(0, path.lastIndexOf("/")), { recursive: true });
    writeFileSync(path, text, "latin1");
  };
  write("plain.md");
  writeBytes("a%E4.txt", "percent");
  writeBytes("a\xe4.txt", "umlaut");
  writeBytes("d\xe4/.gitattributes", "c* -text -diff\n");
  writeBytes("d\xe4/c\xe4.md", "binary by its folder");
  writeBytes("d\xe4/e/f.md", "deep");
  writeBytes("g\xe4/id_rsa", "secret");
  commit();
  const removeBytes = (rel: string) => rmSync(Buffer.from(join(root, rel), "latin1"), { recursive: true });
  const read = async (externalId: string) =>
    Buffer.from((await repository.source.fetchContent?.(repository.context(), { externalId }))?.bytes ?? []).toString();
  return { ...repository, writeBytes, removeBytes, read };
}

describe("names that are no UTF-8", () => {
  test("are items with their bytes in the ID, their dates, attributes and text", async () => {
    const { run, read } = makeNamed();
    const events = await run();
    const items = itemsOf(events);
    expect(items.map(({ externalId, path = [], title }) => [externalId, [...path, title].join("/")])).toEqual([
      ["a%E4.txt", "a%E4.txt"],
      ["./a%E4.txt", "aä.txt"],
      ["./d%E4/.gitattributes", "dä/.gitattributes"],
      ["./d%E4/./c%E4.md", "dä/cä.md"],
      ["./d%E4/e/f.md", "dä/e/f.md"],
      ["plain.md", "plain.md"],
    ]);
    expect(items.every(({ updatedAt, author }) => updatedAt !== undefined && author !== undefined)).toBe(true);
    expect(items[3]?.content).toEqual({ type: "none", reason: "unsupported_type" });
    expect(items[4]?.containers?.map(({ id }) => id)).toContain("./d%E4/e");
    expect(digestOf(events).filter((line) => line.startsWith("!"))).toEqual(["!./g%E4/id_rsa: excluded_by_policy"]);
    expect(await read("./a%E4.txt")).toBe("umlaut");
    expect(await read("a%E4.txt")).toBe("percent");
    expect(await read("./d%E4/e/f.md")).toBe("deep");
    for (const externalId of ["./a%e4.txt", "./g%E4/id_rsa", "./d%E4", "./x%E4", "./d%E4/../a%E4.txt"])
      await expect(read(externalId)).rejects.toMatchObject({ code: "source_not_found" });
  });

  test("are browsed, chosen, and left out by the repository's own list", async () => {
    const { run, context, source, writeBytes, commit } = makeNamed();
    await run();
    const browse = async (parent: string) => (await source.browse?.(context(), { parent }))?.nodes;
    expect((await browse("./d%E4"))?.map(({ id, title }) => [id, title])).toEqual([
      ["./d%E4/./c%E4.md", "cä.md"],
      ["./d%E4/.gitattributes", ".gitattributes"],
      ["./d%E4/e", "e"],
    ]);
    expect((await browse("./d%E4/e"))?.map(({ id }) => id)).toEqual(["./d%E4/e/f.md"]);
    const scope = { include: ["./d%E4"], exclude: ["c?.md"] };
    const scoped = await run(context(), { mode: "full", scope }, undefined, true);
    expect(itemsOf(scoped).map(({ externalId }) => externalId)).toEqual(["./d%E4/.gitattributes", "./d%E4/e/f.md"]);
    writeBytes(".kbignore", "/a\xe4.txt\n");
    commit();
    const events = await run(context(), { mode: "full", cursor: null }, undefined, true);
    expect(digestOf(events)).toContain("!./a%E4.txt: excluded_by_scope");
  });

  test("change, move and go by their bytes", async () => {
    const { run, writeBytes, removeBytes, commit } = makeNamed();
    await run();
    writeBytes("a\xe4.txt", "another");
    writeBytes("h\xe4/e/f.md", "deep");
    removeBytes("d\xe4/e");
    removeBytes("d\xe4/c\xe4.md");
    commit();
    const events = await run();
    expect(digestOf(events)).toEqual([
      "./d%E4/e/f.md>./h%E4/e/f.md",
      "+./a%E4.txt",
      "-./d%E4/e/f.md",
      "-./d%E4/./c%E4.md",
      "end",
    ]);
    removeBytes("h\xe4");
    commit();
    expect(await run()).toContainEqual({ t: "delete_container", type: "folder", id: "./h%E4" });
  });

  test("a planted path with the name . is no file and hides none", async () => {
    const { run, root } = makeRepository();
    commitRaw(root, [
      ["100644", Buffer.from("./a%E4.txt"), "planted"],
      ["100644", Buffer.from("a\xe4.txt", "latin1"), "umlaut"],
    ]);
    const events = await run();
    expect(itemsOf(events).map(({ externalId }) => externalId)).toEqual(["./a%E4.txt"]);
    expect(digestOf(events).filter((line) => line.startsWith("!"))).toEqual(["!/./a%E4.txt: excluded_by_policy"]);
  });
});
