import type { RouteConfig } from "@hono/zod-openapi";
import { test } from "vitest";
import { z } from "zod";
import { ROUTE_GROUPS } from "#api/index.ts";
import { findJsonFault } from "#core/json-bounds.ts";
import { findRouteAccess } from "#server/http/auth.ts";
import { boundsOfBody, OPEN_BODY_BYTES } from "#server/http/body-bounds.ts";
import { bodyBoundsOf } from "#server/http/request.ts";
import { makeServer } from "../../helpers.ts";

/** Texts of patterns, the longest first: the one that a schema takes is its largest. */
const PATTERNED = [
  "2026-11-21T09:30:00.000Z",
  ...["con", "usr", "grp", "kbi", "cnx", "acc", "wsp"].map((kind) => `${kind}_${"2".repeat(16)}`),
  "a".repeat(64),
];

/** The largest value of a schema, in ASCII. */
function largest(schema: z.ZodType): unknown {
  // oxlint-disable-next-line typescript/no-explicit-any -- what zod schemas say of themselves, of many shapes
  const { def } = schema as unknown as { def: any };
  switch (def.type) {
    case "object":
      return Object.fromEntries(Object.entries(def.shape).map(([name, one]) => [name, largest(one as z.ZodType)]));
    case "array": {
      // oxlint-disable-next-line typescript/no-explicit-any, no-underscore-dangle -- zod keeps what a check says there
      const most = Math.min(...def.checks.map((check: any) => check._zod.def.maximum ?? Number.POSITIVE_INFINITY));
      return Array.from({ length: most }, () => largest(def.element));
    }
    case "union":
      return def.options.map(largest).toSorted((a: unknown, b: unknown) => sizeOf(b) - sizeOf(a))[0];
    case "enum":
      return Object.values(def.entries).toSorted((a, b) => sizeOf(b) - sizeOf(a))[0];
    case "literal":
      return def.values[0];
    case "record":
      return def.valueType.def.type === "unknown"
        ? { urls: Array.from({ length: 1_000 }, (_, n) => `https://docs.acme.test/${n}`.padEnd(200, "x")) }
        : Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`name${n}`, largest(def.valueType)]));
    case "string":
      return largestText(schema as z.ZodString);
    case "number":
      return 1_000_000_000;
    case "boolean":
      return false;
    case "pipe":
      return largest(def.in);
    default:
      return largest(def.innerType);
  }
}

function largestText(schema: z.ZodString): string {
  if (typeof schema.maxLength === "number") return "a".repeat(schema.maxLength);
  const found = PATTERNED.find((text) => schema.safeParse(text).success);
  if (found === undefined) throw new Error("No text of this pattern is known to the test.");
  return found;
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

const routes: RouteConfig[] = Object.values(ROUTE_GROUPS).flatMap((group) => Object.values(group));
const taking = routes.flatMap((route) => {
  const isOpen = findRouteAccess(route.method, route.path)?.public === true;
  const bounds = bodyBoundsOf(route, { isOpen });
  const media = route.request?.body?.content["application/json"];
  // Contracts hold zod schemas only.
  return bounds && media && "schema" in media ? [{ route, isOpen, bounds, schema: media.schema as z.ZodType }] : [];
});

test("every route takes the largest body of its contract, also indented, and no open one more than 16 KiB", ({
  expect,
}) => {
  expect(taking.length).toBeGreaterThan(40);
  const wrong = taking.flatMap(({ route, isOpen, bounds, schema }) => {
    const text = JSON.stringify(largest(schema), undefined, 2);
    const isFitting = Buffer.byteLength(text) <= bounds.maxBytes && findJsonFault(text, bounds) === undefined;
    const isSmall = isOpen ? bounds.maxBytes === OPEN_BODY_BYTES : bounds.maxBytes <= 7 * 1024 * 1024;
    return isFitting && isSmall ? [] : [`${route.method} ${route.path}: ${text.length} of ${bounds.maxBytes}`];
  });
  expect(wrong).toEqual([]);
});

test("a route takes little more than its contract says", ({ expect }) => {
  const of = (path: string) =>
    taking.find(({ route }) => `${route.method} ${route.path}` === path)?.bounds.maxBytes ?? 0;
  expect(of("patch /api/workspace/members/{id}")).toBe(16 * 1024);
  expect(of("post /api/groups")).toBeGreaterThan(10_000 * 25);
  expect(of("post /api/groups")).toBeLessThan(2 * 1024 * 1024);
});

test("a contract with a list of any length, or of a kind without a known size, does not mount", ({ expect }) => {
  expect(() => boundsOfBody(z.object({ ids: z.array(z.string().max(10)) }), { isOpen: true })).toThrow(/maximum/);
  expect(() => boundsOfBody(z.object({ at: z.date() }), { isOpen: false })).toThrow(/date/);
});

test("10,000 members of a group come through", async ({ expect }) => {
  const kb = await makeServer();
  const ana = await kb.addOwner();
  const memberIds = Array.from({ length: 10_000 }, () => ana.userId);
  const made = await kb.as(ana).request("POST", "/api/groups", {
    raw: JSON.stringify({ name: "All", memberIds }, undefined, 4),
    headers: { "content-type": "application/json" },
  });
  expect(made.status).toBe(201);
});
