import type { Clock } from "#core/clock.ts";
import { readFor } from "./body.ts";
import type { RouteConfig } from "@hono/zod-openapi";
import type { z } from "zod";
import { cleanJson } from "#api/clean.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { Actor, ConnectorCaller, RequestOrigin } from "#storage/access/actor.ts";
import { findRouteAccess, type RouteAccess } from "./auth.ts";
import type { Authenticator, Caller } from "./authenticate.ts";
import { type App, type AppContext, originOf } from "./env.ts";
import { failuresOf } from "./failures.ts";
import { type CreateRule, findCreateRule, type Idempotency } from "./idempotency.ts";
import type { BodyBounds } from "./body-bounds.ts";
import { chargeSender, type Limits, refuseAfter, type Sender } from "./limits.ts";
import { bodyBoundsOf, parseRequest } from "./request.ts";

/** A request, parsed by its contract. */
export interface Call<R extends RouteConfig> {
  params: ParamsOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  origin: RequestOrigin;
  /** The Hono context, for headers and streams. Most handlers ignore it. */
  c: AppContext;
}

/** The authenticated caller of a handler. */
export interface Member {
  actor: Actor;
  /** Checks the credential again, during long-lived responses. @throws ApiError `unauthenticated`, `forbidden` */
  reauthenticate(): Promise<Actor>;
}

/** The handler's result: the JSON of a successful response, nothing for an empty one, or a whole `Response`. */
export type Result<R extends RouteConfig> = AnswerOf<R> | Response;

export type Handler<R extends RouteConfig, Who = unknown> = (call: Call<R> & Who) => Result<R> | Promise<Result<R>>;

/** A call of a route by a signed-in person or a token. */
export type MemberCall<R extends RouteConfig> = Call<R> & Member;

type Routes = Readonly<Record<string, RouteConfig>>;

/** A handler for each route of a group, under the name of the route. */
export type MemberHandlers<Group extends Routes> = {
  [Name in keyof Group]: (call: MemberCall<Group[Name]>) => AnswerOf<Group[Name]> | Promise<AnswerOf<Group[Name]>>;
};

/** The same handlers, as functions whose first argument is their dependencies. */
export type MemberActs<Deps, Group extends Routes> = {
  [Name in keyof Group]: (
    deps: Deps,
    call: MemberCall<Group[Name]>,
  ) => Result<Group[Name]> | Promise<Result<Group[Name]>>;
};

/**
 * Registers the routes of features: a whole group with `at.members(groupRoutes, groups);`, or one route with
 * `at.member(sessionRoutes.get, ({ actor }) => sessions.describe(actor));`. The order doesn't matter, since paths
 * without parameters take precedence over paths with them.
 */
export type Mount = Omit<ReturnType<typeof makeMounter>, "finish" | "methodsOf">;

export interface MounterOptions {
  clock: Clock;
  authenticator: Authenticator;
  /** Counts requests by sender. */
  limits: Pick<Limits, "chargeOpen" | "chargeRequest" | "findWaitForBodies" | "noteMalformed">;
  /** Makes create requests repeatable. */
  idempotency: Pick<Idempotency, "run">;
  /**
   * Whether to check every response against the contract and to fail if its JSON or its status doesn't match. For
   * tests.
   */
  checksAnswers?: boolean;
}

/**
 * Collects routes. Each request is authenticated by the route access table, then parsed by the contract, then handled.
 *
 * @throws Error at start if a route has no row in the table, or is mounted for another kind of caller than in its row
 */
export function makeMounter(options: MounterOptions) {
  const mounted: Mounted[] = [];

  function add(kind: Mounted["kind"], route: RouteConfig, handler: Mounted["handler"]): void {
    const rule = requireRule(kind, route);
    const create = findCreateRule(route.method, route.path);
    const bounds = bodyBoundsOf(route, { isOpen: rule.public });
    mounted.push({ kind, route, rule, handler, pattern: toPattern(route.path), ...defined({ create, bounds }) });
  }

  function addGroup(routes: Routes, handle: (name: string, call: never) => unknown): void {
    for (const [name, route] of Object.entries(routes)) add("actor", route, (call) => handle(name, call as never));
  }

  return {
    /** Registers a group of routes for a signed-in person or a token. */
    members: <Group extends Routes>(routes: Group, handlers: MemberHandlers<Group>): void =>
      addGroup(routes, (name, call) => handlers[name]?.(call)),
    /** Registers a group of routes whose handlers also get their dependencies. */
    membersWith: <Deps, Group extends Routes>(deps: Deps, routes: Group, acts: MemberActs<Deps, Group>): void =>
      addGroup(routes, (name, call) => acts[name]?.(deps, call)),
    // `parseRequest` ensures that the parsed values have the contract's types. Each request checks the kind of the
    // caller.
    /** Registers a route for a signed-in person or a token. The handler gets the actor. */
    member: <R extends RouteConfig>(route: R, handler: Handler<R, Member>): void =>
      add("actor", route, handler as unknown as Mounted["handler"]),
    /** Registers a route without credentials. */
    open: <R extends RouteConfig>(route: R, handler: Handler<R>): void =>
      add("nobody", route, handler as unknown as Mounted["handler"]),
    /** Registers a route for a connector's own key. The path's `id` is that connector. */
    push: <R extends RouteConfig>(route: R, handler: Handler<R, { connector: ConnectorCaller }>): void =>
      add("connector", route, handler as unknown as Mounted["handler"]),
    /** Adds all collected routes to the app. Call it once. */
    finish(app: App): void {
      mounted.sort(bySpecificity);
      // `/connectors/mine` never matches `/connectors/{id}`, whatever the method, so a wrong method is reported as a
      // wrong method.
      const fixed = mounted.map((entry) => entry.route.path).filter((path) => !path.includes("{"));
      for (const entry of mounted) {
        const taken = new Set(fixed.filter((path) => path !== entry.route.path && entry.pattern.test(path)));
        app.on(entry.route.method.toUpperCase(), toHonoPath(entry.route.path), (c) =>
          taken.has(c.req.path) ? c.notFound() : answer(c, entry, options),
        );
      }
    },
    /** Returns the methods of a path, for `Allow`. Empty if the path is unknown. */
    methodsOf(path: string): string[] {
      const named = mounted.filter((entry) => entry.route.path === path);
      const found = named.length > 0 ? named : mounted.filter((entry) => entry.pattern.test(path));
      const methods = found.map((entry) => entry.route.method.toUpperCase());
      return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))].sort();
    },
  };
}

interface Mounted {
  kind: Caller["type"];
  route: RouteConfig;
  rule: RouteAccess;
  handler: (call: Record<string, unknown>) => unknown;
  pattern: RegExp;
  /** Set if the route accepts `Idempotency-Key`. */
  create?: CreateRule;
  /** Set if the route has a JSON body. */
  bounds?: BodyBounds;
}

/** Sends the response of a route. In tests its status must be one that the contract lists. */
async function answer(c: AppContext, entry: Mounted, options: MounterOptions): Promise<Response> {
  if (options.checksAnswers !== true) return handle(entry, options, c);
  try {
    const response = await handle(entry, options, c);
    requireListed(entry.route, response.status);
    return response;
  } catch (error) {
    if (error instanceof ApiError) requireListed(entry.route, error.status, error.code);
    throw error;
  }
}

function requireListed(route: RouteConfig, status: number, code?: string): void {
  if (String(status) in route.responses || failuresOf(route).has(status)) return;
  const what = code === undefined ? String(status) : `${status} "${code}"`;
  throw new Error(
    `${route.method.toUpperCase()} ${route.path} answered ${what}, which its contract does not list: name it in its problems.`,
  );
}

async function handle(entry: Mounted, options: MounterOptions, c: AppContext): Promise<Response> {
  const origin = originOf(c);
  const credentials = { url: c.req.url, headers: c.req.raw.headers, origin };
  const authenticate = () => options.authenticator.authenticate(entry.rule, credentials);
  const firstCaller = await authenticate();
  asKind(entry, firstCaller, c);
  if (firstCaller.type !== "nobody") options.limits.chargeRequest(firstCaller);
  else if (COUNTED.test(entry.route.path)) await chargeOpen(options, c);
  const parse = () => parseRequest(entry.route, c, entry.bounds);
  const read = () => (firstCaller.type === "nobody" && entry.bounds ? readFromAnybody(parse, options, c) : parse());
  const { caller, body: parsed } = await readFor(firstCaller, options.clock, { read, authenticate });
  const who = asKind(entry, caller, c);
  if (caller.type === "actor") {
    who["reauthenticate"] = async () => asKind(entry, await authenticate(), c)["actor"];
  }
  const call = { ...parsed, ...who, origin, c };
  const isChecked = options.checksAnswers === true;
  if (entry.create === undefined) return toResponse(entry.route, await entry.handler(call), isChecked, c);
  const { query, body } = parsed;
  const answered = await options.idempotency.run(
    {
      rule: entry.create,
      caller,
      route: `${c.req.method} ${c.req.path}`,
      key: c.req.header("idempotency-key"),
      pathId: c.req.param("id"),
      content: { query, body },
    },
    async () => toAnswer(entry.route, await entry.handler(call), isChecked),
  );
  if (answered.isReplay) c.header("Idempotency-Replayed", "true");
  // `toAnswer` has produced this status, now or when the response was stored.
  return write(c, { ...answered, status: answered.status as Success });
}

/**
 * Public routes that are expensive enough to be counted. A sign-in isn't counted here: it counts its own failures
 * before a password is checked, separately for a known browser. Notifications have a separate rate.
 */
const COUNTED = /^(?!\/(?:healthz|readyz|hooks\/.*|api\/session)$)/;

function chargeOpen({ limits, authenticator }: MounterOptions, c: AppContext): Promise<void> {
  const findShown = () => authenticator.findShown(c.req.raw.headers);
  return chargeSender((sender) => limits.chargeOpen(sender), c.get("clientIp"), findShown);
}

/**
 * Reads a body that anyone may send, unless the sender has sent too many unreadable bodies. Source: S69.
 *
 * @throws ApiError `rate_limited`; the errors of `parse`
 */
async function readFromAnybody<T>(
  parse: () => Promise<T>,
  { limits, authenticator }: MounterOptions,
  c: AppContext,
): Promise<T> {
  let from: Sender = { clientIp: c.get("clientIp") };
  const admit = (sender: Sender) => {
    refuseAfter(limits.findWaitForBodies(sender));
    from = sender;
  };
  await chargeSender(admit, c.get("clientIp"), () => authenticator.findShown(c.req.raw.headers));
  try {
    return await parse();
  } catch (error) {
    if (error instanceof ApiError && MALFORMED.has(error.code)) limits.noteMalformed(from);
    throw error;
  }
}

const MALFORMED: ReadonlySet<string> = new Set(["invalid_request", "payload_too_large", "unsupported_media_type"]);

function asKind(entry: Mounted, caller: Caller, c: AppContext): Record<string, unknown> {
  if (caller.type !== entry.kind) throw new Error(`${entry.route.path} was opened by a caller of another kind.`);
  switch (caller.type) {
    case "nobody":
      return {};
    case "actor":
      c.set("actor", caller.actor);
      return { actor: caller.actor };
    case "connector":
      // For the key of another connector, the route looks like one that doesn't exist.
      if (c.req.param("id") !== caller.connector.connectorId) throw noSuchThing();
      c.set("connector", caller.connector);
      return { connector: caller.connector };
  }
}

function toResponse(route: RouteConfig, result: unknown, isChecked: boolean, c: AppContext): Response {
  if (result instanceof Response) return result;
  return write(c, toAnswer(route, result, isChecked));
}

/** Writes a REST response. Invisible characters are removed from external text. Source: S45. */
function write(c: AppContext, { status, body }: { status: Success; body: unknown }): Response {
  return status === 204 ? c.body(null, 204) : c.json(cleanJson(body), status);
}

function toAnswer(route: RouteConfig, result: unknown, isChecked: boolean): { status: Success; body: unknown } {
  const { status, schema } = successOf(route);
  if (schema === undefined) return { status: 204, body: null };
  if (isChecked) schema.parse(result);
  return { status, body: result };
}

type Success = 200 | 201 | 202 | 204;

/** The status and JSON schema of the first successful response in the contract. */
function successOf(route: RouteConfig): { status: Success; schema: z.ZodType | undefined } {
  const status = Object.keys(route.responses).find((key) => key.startsWith("2"));
  const response = status === undefined ? undefined : route.responses[status];
  const content = response && "content" in response ? response.content : undefined;
  const media = content?.["application/json"];
  const schema = media && "schema" in media ? media.schema : undefined;
  const known = status === "201" ? 201 : status === "202" ? 202 : 200;
  // Contracts in this project contain only zod schemas, never raw OpenAPI objects.
  return { status: known, schema: schema as z.ZodType | undefined };
}

function requireRule(kind: Mounted["kind"], route: RouteConfig): RouteAccess {
  const name = `${route.method.toUpperCase()} ${route.path}`;
  const rule = findRouteAccess(route.method, route.path);
  if (!rule) throw new Error(`${name} has no row in http/auth.ts, so it does not mount.`);
  const wanted: Mounted["kind"] = rule.public ? "nobody" : rule.connectorKey ? "connector" : "actor";
  if (wanted !== kind) throw new Error(`${name} is mounted for ${kind}, but its row in http/auth.ts says ${wanted}.`);
  return rule;
}

/** Sorts paths without parameters first, so that `/mine` isn't taken for an id. */
function bySpecificity(a: Mounted, b: Mounted): number {
  const [left, right] = [sortKey(a.route.path), sortKey(b.route.path)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sortKey(path: string): string {
  return path.replaceAll(/\{[^}]+\}/g, "\uFFFF");
}

function toHonoPath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ":$1");
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/[.]/g, "\\.").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`);
}

type Zod<T> = T extends z.ZodType ? z.output<T> : undefined;
type RequestOf<R extends RouteConfig> = NonNullable<R["request"]>;
type ParamsOf<R extends RouteConfig> =
  RequestOf<R> extends { params: infer P extends z.ZodType } ? z.output<P> : Record<string, never>;
type QueryOf<R extends RouteConfig> =
  RequestOf<R> extends { query: infer Q extends z.ZodType } ? z.output<Q> : Record<string, never>;
type BodyOf<R extends RouteConfig> =
  RequestOf<R> extends { body: { required: true; content: { "application/json": { schema: infer B } } } }
    ? Zod<B>
    : RequestOf<R> extends { body: { content: { "application/json": { schema: infer B } } } }
      ? Zod<B> | undefined
      : undefined;
type Responses<R extends RouteConfig> = R["responses"];
type AnswerAt<R extends RouteConfig, S extends number> = S extends keyof Responses<R>
  ? Responses<R>[S] extends { content: { "application/json": { schema: infer B } } }
    ? Zod<B>
    : void
  : never;
type AnswerOf<R extends RouteConfig> = AnswerAt<R, 200> | AnswerAt<R, 201> | AnswerAt<R, 202> | AnswerAt<R, 204>;
