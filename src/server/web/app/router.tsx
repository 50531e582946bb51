import { useQuery } from "@tanstack/react-query";
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  parseSearchWith,
  stringifySearchWith,
} from "@tanstack/react-router";
import { HOME_PATH } from "#api/return-to.ts";
import { sessionQuery } from "./data/queries.ts";
import { EntryLayout } from "./shell/entry.tsx";
import { NothingHerePage } from "./shell/nothing-here.tsx";
import { PageFailure } from "./shell/page-failure.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NothingHerePage });

/** Pages for people who aren't signed in or who must answer a question. */
const entry = createRoute({ getParentRoute: () => root, id: "entry", component: EntryLayout });

/** Pages for a signed-in person, with the navigation around them. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: lazyRouteComponent(() => import("./shell/shell.tsx"), "Shell"),
});

const front = createRoute({ getParentRoute: () => root, path: "/", component: Front });

/** Redirects `/`. The server answers `/` itself, so this is used only when a development tool serves the page. */
function Front() {
  const session = useQuery(sessionQuery);
  if (session.error !== null) return <PageFailure />;
  return session.data === undefined ? null : <Navigate replace to={HOME_PATH} />;
}

const ENTRY_PAGES = {
  "/welcome": () => import("./pages/welcome.tsx"),
  "/sign-in": () => import("./pages/sign-in.tsx"),
  "/sign-up": () => import("./pages/sign-up.tsx"),
  "/forgot-password": () => import("./pages/forgot-password.tsx"),
  "/reset-password": () => import("./pages/reset-password.tsx"),
  "/confirm": () => import("./pages/confirm.tsx"),
  "/invite": () => import("./pages/invite.tsx"),
  "/workspaces": () => import("./pages/workspaces.tsx"),
  "/oauth/consent/$uid": () => import("./pages/consent.tsx"),
  "/oauth/device": () => import("./pages/device.tsx"),
  "/connect": () => import("./pages/connect/connect.tsx"),
  "/connect/found": () => import("./pages/connect/found.tsx"),
} as const;

const SHELL_PAGES = {
  "/search": () => import("./pages/search/search.tsx"),
  "/settings/mcp-access": () => import("./pages/mcp-access/mcp-access.tsx"),
  "/settings/accounts": () => import("./pages/accounts/accounts.tsx"),
  "/settings/profile": () => import("./pages/profile.tsx"),
  "/settings/sessions": () => import("./pages/sessions.tsx"),
  "/settings/reads": () => import("./pages/reads.tsx"),
  "/workspace/connectors": () => import("./pages/connectors/connectors.tsx"),
  "/workspace/connectors/new": () => import("./pages/connectors/new/sources.tsx"),
  "/workspace/connectors/new/$providerId": () => import("./pages/connectors/new/new-connector.tsx"),
  "/workspace/connectors/$connectorId": () => import("./pages/connectors/connector.tsx"),
  "/workspace/servers": () => import("./pages/servers/servers.tsx"),
  "/workspace/servers/new": () => import("./pages/servers/new-server.tsx"),
  "/workspace/servers/$serverId": () => import("./pages/servers/server.tsx"),
  "/workspace/members": () => import("./pages/members.tsx"),
  "/workspace/groups": () => import("./pages/groups.tsx"),
  "/workspace/invitations": () => import("./pages/invitations.tsx"),
  "/workspace/events": () => import("./pages/events/event-targets.tsx"),
  "/workspace/events/$targetId": () => import("./pages/events/event-target.tsx"),
  "/workspace/general": () => import("./pages/workspace-general.tsx"),
  "/workspace/audit": () => import("./pages/audit/audit.tsx"),
  "/i/$kbId": () => import("./pages/item/item.tsx"),
} as const;

type PageModule = () => Promise<{ Page: () => React.ReactNode }>;

/** Makes the router for all pages. Each page is a separate file that loads when it is opened. */
export function makePageRouter() {
  const page = (parent: typeof entry | typeof shell, path: string, load: PageModule) =>
    createRoute({ getParentRoute: () => parent, path, component: lazyRouteComponent(load, "Page") });
  return createRouter({
    routeTree: root.addChildren([
      front,
      entry.addChildren(Object.entries(ENTRY_PAGES).map(([path, load]) => page(entry, path, load))),
      shell.addChildren(Object.entries(SHELL_PAGES).map(([path, load]) => page(shell, path, load))),
    ]),
    // Values stay the text that people typed: "123" and "true" are words.
    parseSearch: parseSearchWith((text) => text),
    stringifySearch: stringifySearchWith(String),
    defaultPreload: "intent",
    defaultErrorComponent: PageFailure,
    scrollRestoration: true,
  });
}
