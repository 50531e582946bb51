import { test } from "vitest";
import { kb, makeWorld } from "./fakes.ts";

const anna = {
  entityId: "ent_23456789abcdefgh",
  type: "person",
  name: "Anna Kowalska",
  aliases: ["anna"],
  email: "anna@acme.test",
  login: null,
  claimed: true,
  providers: ["filesystem", "push"],
  itemCount: 3,
  lastSeenAt: "2026-11-20T09:30:00.000Z",
};

test("entities are listed with what their record says", async ({ expect }) => {
  const world = makeWorld({
    routes: { "GET /api/entities": { body: { entities: [anna], nextCursor: null, total: 1 } } },
  });
  const { code, stdout } = await kb(world, "entities", "search", "anna");
  expect(code).toBe(0);
  for (const shown of [anna.entityId, "person", "Anna Kowalska", "2026-11-20", "filesystem", "push"]) {
    expect(stdout).toContain(shown);
  }
  const chosen = await kb(world, "entities", "search", "anna", "--json", "entityId,lastSeenAt");
  expect(JSON.parse(chosen.stdout).entities).toEqual([{ entityId: anna.entityId, lastSeenAt: anna.lastSeenAt }]);
});

test("one entity is shown with its id and where it occurs", async ({ expect }) => {
  const body = {
    entity: anna,
    counts: { items: 3, recent: 1, openTasks: 0, byKind: { file: 3 } },
    openTasks: [],
    newest: [],
    relations: [],
    notes: [],
  };
  const world = makeWorld({ routes: { [`GET /api/entities/${anna.entityId}`]: { body } } });
  const { code, stdout } = await kb(world, "entities", "show", anna.entityId);
  expect(code).toBe(0);
  for (const shown of [anna.entityId, "Anna Kowalska (as documents say)", "filesystem", "anna@acme.test"]) {
    expect(stdout).toContain(shown);
  }
});
