import { Hono } from "hono";
import { ApiError } from "#api/errors.ts";
import { eventRoutes } from "#api/events.ts";
import { myWorkspaceRoutes } from "#api/session.ts";
import { tokenRoutes } from "#api/tokens.ts";
import { groupRoutes, invitationRoutes, localRootRoutes, workspaceRoutes } from "#api/workspace.ts";
import { VERSION } from "#api/version.ts";
import { mountAccounts } from "./accounts/routes.ts";
import { mountAudit } from "./identity/audit/routes.ts";
import { mountPush } from "./connectors/push-routes.ts";
import { mountConnectors } from "./connectors/routes.ts";
import type { Content } from "./compose/content.ts";
import type { Foundation } from "./compose/foundation.ts";
import type { Identity } from "./compose/identity.ts";
import { mountEntities } from "./entities/routes.ts";
import { mountFiles } from "./files/routes.ts";
import type { App, AppEnv } from "./http/env.ts";
import { frameRequests } from "./http/guard.ts";
import { makeMounter, type Mount } from "./http/mount.ts";
import { mountOperations, type Readiness } from "./http/operations.ts";
import { answerProblem } from "./http/problem.ts";
import { mountMcp } from "./mcp/mount.ts";
import { toOAuthAnswer } from "./identity/oauth/failures.ts";
import { mountOAuthServer } from "./identity/oauth/mount.ts";
import { mountOAuth } from "./identity/oauth/routes.ts";
import { mountHooks } from "./sync/webhooks/routes.ts";
import { mountConnectionIntents } from "./provider-servers/intent-routes.ts";
import { mountProviderServers } from "./provider-servers/routes.ts";
import { mountSearch } from "./search/routes.ts";
import { mountSessions } from "./identity/sessions/routes.ts";
import { mountSso } from "./identity/sso/routes.ts";
import { makeFront } from "./web/front.ts";
import { mountWeb, type WebPage } from "./web/serve.ts";

/** All services that routes use. Each feature's mount function lists those that it needs. */
export type AppServices = Foundation & Identity & Omit<Content, "close" | "warm"> & Readiness;

export interface AppOptions {
  /** Whether to check every JSON response against the contract. For tests. */
  checksAnswers?: boolean;
  /** A test's own routes. */
  extend?: (app: App, at: Mount) => void;
  /** The built web page; without it the app serves no pages. */
  web?: WebPage;
}

/** The mount function of every feature. Append the function of a new feature. */
const FEATURES: readonly ((at: Mount, services: AppServices) => void)[] = [
  mountOperations,
  mountSessions,
  mountSso,
  mountServices,
  mountOAuth,
  mountAudit,
  mountAccounts,
  mountConnectors,
  mountPush,
  mountHooks,
  mountProviderServers,
  mountConnectionIntents,
  mountFiles,
  mountSearch,
  mountEntities,
];

/** Mounts the features whose services have one handler for each route, under the route's name. */
function mountServices(at: Mount, { passwordReset, ...services }: AppServices): void {
  at.members(tokenRoutes, services.tokens);
  at.members(groupRoutes, services.groups);
  at.members(myWorkspaceRoutes, services.myWorkspaces);
  at.members(workspaceRoutes, {
    ...services.workspaces,
    resetMember: ({ actor, params }) => passwordReset.requestForMember(actor, params.id),
  });
  at.members(invitationRoutes, services.invitations);
  at.members(localRootRoutes, services.localRoots);
  at.members(eventRoutes, services.events);
}

/** Makes the whole HTTP app: middleware, the routes of the contract, and a problem response for everything else. */
export function makeApp(services: AppServices, options: AppOptions = {}): App {
  const { log } = services;
  const app = new Hono<AppEnv>();
  const mounter = makeMounter({
    clock: services.clock,
    authenticator: services.authenticator,
    limits: services.limits,
    idempotency: services.idempotency,
    checksAnswers: options.checksAnswers === true,
  });
  app.use(
    "*",
    frameRequests({
      ...services.settings,
      guard: services.guard,
      limits: services.limits,
      authenticator: services.authenticator,
      clock: services.clock,
      log,
      randomBytes: services.randomBytes,
      toPage: toOAuthAnswer,
    }),
  );
  for (const mountFeature of FEATURES) mountFeature(mounter, services);
  const { baseUrl, mcpLifecycle: lifecycle } = services.settings;
  mountMcp(app, { ...services, version: VERSION, baseUrl, lifecycle });
  mountOAuthServer(app, services);
  options.extend?.(app, mounter);
  mounter.finish(app);
  if (options.web) mountWeb(app, options.web, makeFront(services));
  app.notFound((c) => {
    const methods = mounter.methodsOf(c.req.path);
    const response = answerProblem(c, methods.length > 0 ? wrongMethod(c.req.method, methods) : noRoute(), log);
    if (methods.length > 0) response.headers.set("Allow", methods.join(", "));
    return response;
  });
  app.onError((error, c) => answerProblem(c, error, log));
  return app;
}

function wrongMethod(method: string, methods: readonly string[]): ApiError {
  return new ApiError("method_not_allowed", {
    message: `Method ${method} is not allowed here. Allowed: ${methods.join(", ")}.`,
  });
}

function noRoute(): ApiError {
  return new ApiError("not_found", { message: "This path does not exist." });
}
