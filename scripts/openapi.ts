/** The OpenAPI document: made of the contract, the route access table and the table of errors; no running server is needed. */
import { OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import { ERROR_CLASSES, type ErrorCode } from "#api/errors.ts";
import { ROUTE_GROUPS } from "#api/index.ts";
import { PROTOCOL_ROUTES } from "#api/protocol-routes.ts";
import { problemAnswer } from "#api/route.ts";
import { findRouteAccess } from "#server/http/auth.ts";
import { failuresOf, ownCodes, statusOf } from "#server/http/failures.ts";
import { strictly } from "#server/http/request.ts";

/** The document of every route. */
export function makeDocument(): unknown {
  const app = new OpenAPIHono();
  const mounted = routesOf(ROUTE_GROUPS).map((route) => ({ ...asServed(route), security: securityOf(route) }));
  const beside = routesOf(PROTOCOL_ROUTES).map((route) => ({ ...listingFailures(route), ...besideSecurity(route) }));
  registerShared(app, routesOf(ROUTE_GROUPS));
  for (const route of [...mounted, ...beside].toSorted(byPath)) app.openAPIRegistry.registerPath(route);
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "A personal access token or an OAuth access token, or on push routes the connector's key",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: "kb_session",
    description: "The web session, which POST /api/session sets; `__Host-kb` on https",
  });
  return withPlainPatterns(
    app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: { title: "kb connector search service", version: "1" },
      servers: [{ url: "/" }],
    }),
  );
}

/** As the server takes it: unknown keys are refused, in the query too. */
function asServed(route: RouteConfig): RouteConfig {
  const { request } = route;
  const body = request?.body;
  const json = body?.content["application/json"];
  return {
    ...listingFailures(route),
    request: {
      ...request,
      ...(body !== undefined &&
        json !== undefined &&
        "schema" in json && {
          body: {
            ...body,
            // Contracts in this project hold zod schemas only, never raw OpenAPI objects.
            content: { ...body.content, "application/json": { ...json, schema: strictly(json.schema as z.ZodType) } },
          },
        }),
    },
  };
}

/** Each failure by its own status, in place of `default`: what is not listed is a fault of the server or of the list. */
function listingFailures(route: RouteConfig): RouteConfig {
  const { default: failure, ...answers } = route.responses;
  if (failure === undefined || "$ref" in failure) throw new Error(`${route.path} does not say how it fails.`);
  const { content } = failure;
  const own = new Set(ownCodes(route).map(statusOf));
  const isShared = (status: number) => content === problemAnswer.content && !own.has(status);
  const failures = [...failuresOf(route)].map(([status, codes]) => [
    status,
    isShared(status)
      ? { $ref: `#/components/responses/${nameOf(status)}` }
      : { description: describe(status, codes), content },
  ]);
  return { ...route, responses: { ...answers, ...Object.fromEntries(failures) } };
}

/** What routes fail with that have nothing of their own to say at a status: told once, with every such code. */
function registerShared({ openAPIRegistry }: OpenAPIHono, routes: readonly RouteConfig[]): void {
  const shared = new Map<number, Set<ErrorCode>>();
  for (const route of routes) {
    const own = new Set(ownCodes(route));
    for (const [status, codes] of failuresOf(route)) {
      const known = shared.get(status) ?? new Set();
      for (const code of codes) if (!own.has(code)) known.add(code);
      shared.set(status, known);
    }
  }
  for (const [status, codes] of shared) {
    if (codes.size === 0) continue;
    const schema = { $ref: "#/components/schemas/Problem" };
    openAPIRegistry.registerComponent("responses", nameOf(status), {
      description: describe(status, [...codes]),
      content: { "application/problem+json": { schema } },
    });
  }
}

function describe(status: number, codes: readonly ErrorCode[]): string {
  return `${titleOf(status)}: ${codes.map((code) => `\`${code}\``).join(", ")}`;
}

function titleOf(status: number): string {
  return Object.values(ERROR_CLASSES).find((one) => one.status === status)?.title ?? "Problem";
}

/** `Too many requests` → `TooManyRequests`. */
function nameOf(status: number): string {
  return titleOf(status).replaceAll(/(?:^| )(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Which credentials open a route, by the route access table: the document can't promise what the server does not do. */
function securityOf({ method, path }: RouteConfig): Record<string, string[]>[] {
  const rule = findRouteAccess(method, path);
  if (!rule) throw new Error(`${method.toUpperCase()} ${path} has no row in src/server/http/auth.ts.`);
  if (rule.public) return [];
  const takesBearer = rule.connectorKey || rule.pat.length > 0;
  return [...(takesBearer ? [{ bearer: [...rule.pat] }] : []), ...(rule.session ? [{ session: [] }] : [])];
}

function besideSecurity(route: RouteConfig): Pick<RouteConfig, "security"> {
  return { security: findRouteAccess(route.method, route.path) === undefined ? [] : securityOf(route) };
}

/**
 * A pattern of the document is the source of the expression. The library prints the whole expression and takes the
 * slashes off: of `/^a$/u` it leaves `^a$/u`, which nothing fits. Classes of Unicode are written as ranges, which
 * validators in Python read too.
 */
function withPlainPatterns(document: unknown): unknown {
  return JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key === "pattern" && typeof value === "string" ? toPlainPattern(value) : value,
  );
}

function toPlainPattern(printed: string): string {
  const pattern = printed
    .replace(/\/[dgimsuvy]+$/, "")
    .replaceAll(String.raw`\p{Cc}`, CONTROL_CHARACTERS)
    .replaceAll(String.raw`\p{Cf}`, FORMAT_CHARACTERS);
  if (/\\p\{/i.test(pattern)) throw new Error(`${pattern} has a class of Unicode that not every validator knows.`);
  return pattern;
}

/** `\p{Cc}` and, of the characters that two bytes hold, `\p{Cf}`: the others have no notation that all share. */
const CONTROL_CHARACTERS = String.raw`\u0000-\u001f\u007f-\u009f`;
const FORMAT_CHARACTERS =
  String.raw`\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e` +
  String.raw`\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb`;

function routesOf(groups: Record<string, Record<string, RouteConfig>>): RouteConfig[] {
  return Object.values(groups).flatMap((group) => Object.values(group));
}

function byPath(a: { path: string; method: string }, b: { path: string; method: string }): number {
  const [left, right] = [`${a.path} ${a.method}`, `${b.path} ${b.method}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
