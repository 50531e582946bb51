import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { judgeAccess, parsePrincipal } from "#core/principals.ts";
import { makePushLineSchema } from "#sources/push/json-schema.ts";
import { parsePushLine } from "#sources/push/lines.ts";

const page = readFileSync(new URL("../../docs/sources/push.md", import.meta.url), "utf8");

test("every line that docs/sources/push.md shows is taken as it stands", () => {
  const lines = [...page.matchAll(/```json\n([\s\S]*?)```/g)].flatMap(([, block]) => (block ?? "").trim().split("\n"));
  expect(lines.length).toBeGreaterThanOrEqual(6);
  const authority = { connectorId: "con_aaaaaaaaaaaaaaaa", named: { has: () => true } };
  for (const line of lines) {
    const parsed = parsePushLine(line, 1, "tracker");
    expect(parsed, line).toMatchObject({ ok: true, notes: [] });
    if (parsed?.ok !== true || (parsed.event.t !== "upsert" && parsed.event.t !== "access")) continue;
    const access = parsed.event.t === "upsert" ? parsed.event.item.access : parsed.event.access;
    expect(judgeAccess(access ?? { known: false }, authority).offending, line).toEqual([]);
    const people = parsed.event.t === "upsert" ? (parsed.event.item.assignees ?? []) : [];
    for (const person of people) expect(parsePrincipal(person.principal ?? ""), line).toBeDefined();
  }
});

test("the page shows every kind of line, and the schema file is the one that the reader of lines is made of", () => {
  const file = readFileSync(new URL("../../docs/push-line.schema.json", import.meta.url), "utf8");
  const schema = makePushLineSchema();
  expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(schema)));
  // What the generator makes of a union of objects.
  const kinds = (schema["oneOf"] as { properties: { t: { const: string } } }[]).map(
    ({ properties }) => properties.t.const,
  );
  expect(kinds).toHaveLength(7);
  for (const kind of kinds) expect(page, kind).toMatch(new RegExp(`"t": ?"${kind}"`));
});
