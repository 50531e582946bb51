import { test } from "vitest";
import { hasNoText } from "#sources/file-scope/mime-hints.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";

test("what is secret in a folder is secret in an archive, unless the connector takes secrets", ({ expect }) => {
  const rules = makeChildRules({ archives: true, secretFiles: false });
  expect(rules.refuse?.("deploy/.env")).toMatchObject({ reason: "excluded_by_policy" });
  expect(rules.refuse?.("id_rsa")).toMatchObject({ reason: "excluded_by_policy" });
  expect(rules.refuse?.("docs/notes.md")).toBeUndefined();
  expect(makeChildRules({ archives: true, secretFiles: true }).refuse?.("deploy/.env")).toBeUndefined();
});

test("archives are fetched where they are wanted, pictures and recordings for their metadata, fonts never", ({
  expect,
}) => {
  expect(["application/gzip", "application/x-tar"].map((type) => [hasNoText(type), hasNoText(type, true)])).toEqual([
    [true, false],
    [true, false],
  ]);
  expect(["image/jpeg", "audio/mpeg", "video/mp4", undefined].map((type) => hasNoText(type))).toEqual(
    Array(4).fill(false),
  );
  expect(["font/woff2", "application/wasm"].map((type) => hasNoText(type, true))).toEqual([true, true]);
});
