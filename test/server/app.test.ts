import { describe, test } from "vitest";
import { ROUTE_GROUPS } from "#api/index.ts";
import { ROUTE_ACCESS, findRouteAccess, routeShape } from "#server/http/auth.ts";
import { makeServer } from "../helpers.ts";
import { verifies } from "../requirements.ts";

const ROUTES = Object.values(ROUTE_GROUPS).flatMap((group) => Object.values(group));

/** Routes outside the REST contract. */
const NOT_REST = ["POST /mcp"];

describe("contract, route access table and app", () => {
  test("every route of the contract has a row, and every row a route", ({ expect }) => {
    const routes = new Set(ROUTES.map((route) => routeShape(route.method, route.path)));
    expect(ROUTES.filter((route) => !findRouteAccess(route.method, route.path)).map((route) => route.path)).toEqual([]);
    const rows = Object.keys(ROUTE_ACCESS).filter((row) => !NOT_REST.includes(row));
    const shapeOf = (row: string) => routeShape(row.split(" ")[0] ?? "", row.split(" ")[1] ?? "");
    expect(rows.filter((row) => !routes.has(shapeOf(row)))).toEqual([]);
    expect(ROUTES.length).toBeGreaterThan(30);
  });

  verifies("service:rest-under-api", "every route of the contract is mounted", async ({ expect }) => {
    const kb = await makeServer();
    const missing: string[] = [];
    for (const route of ROUTES) {
      const path = route.path.replace("/oauth/{provider}", "/oauth/github").replaceAll(/\{[^}]+\}/g, "x");
      const { status, json } = await kb.anyone().request(route.method.toUpperCase(), path);
      // Without a provider of single sign-on its routes say so themselves.
      const isOpen = (status !== 404 && status !== 405) || json?.code === "sso_not_configured";
      const isThere = findRouteAccess(route.method, route.path)?.public ? isOpen : status === 401;
      if (!isThere) missing.push(`${route.method} ${route.path}: ${status} ${json?.detail}`);
    }
    expect(missing).toEqual([]);
  });
});
