import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { api, take } from "./client.ts";
import { isOutage, Problem } from "./problem.ts";

/** Retry interval while the server is down. */
const OUTAGE_MS = 4_000;

/** Results stay fresh for a few seconds; only a server without a proper answer is asked again. */
export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        refetchInterval: ({ state }) => isOutage(state.error) && OUTAGE_MS,
        retry: (count, error) => count < 1 && !(error instanceof Problem && error.status < 500),
      },
    },
  });
}

export const entryQuery = queryOptions({
  queryKey: ["entry"],
  queryFn: () => take(api.GET("/api/onboarding")),
});

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: () => take(api.GET("/api/session")),
});

/** The offer of an invitation link, and who opened it; fetched once per opening of the page. */
export const invitationOfferQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: async () => {
      const [offer, { data: session }] = await Promise.all([
        take(api.POST("/api/invitations/check", { body: { token } })),
        api.GET("/api/session"),
      ]);
      return { offer, session };
    },
    staleTime: Infinity,
  });

/** The person whose password a link sets; fetched once per opening of the page. */
export const resetOfferQuery = (token: string) =>
  queryOptions({
    queryKey: ["password-reset", token],
    queryFn: () => take(api.POST("/api/password-reset/check", { body: { token } })),
    staleTime: Infinity,
  });

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: () => take(api.GET("/api/api-tokens")),
});

export const accountsQuery = queryOptions({
  queryKey: ["accounts"],
  queryFn: () => take(api.GET("/api/accounts")),
});

export const identitiesQuery = queryOptions({
  queryKey: ["identities"],
  queryFn: () => take(api.GET("/api/profile/identities")),
});

/** The workspace with its settings for who its members are at sources. */
export const workspaceQuery = queryOptions({
  queryKey: ["workspace"],
  queryFn: async () => (await take(api.GET("/api/workspace"))).workspace,
});

export const workspacesQuery = queryOptions({
  queryKey: ["workspaces"],
  queryFn: () => take(api.GET("/api/workspaces", { params: { query: { limit: 200 } } })),
});

/** Every member, for choosing people and for names next to ids: at most 200, one page. */
export const everybodyQuery = queryOptions({
  queryKey: ["members", "everybody"],
  queryFn: () => take(api.GET("/api/workspace/members", { params: { query: { limit: 200 } } })),
});

export const grantsQuery = pages(["grants"], (query) => take(api.GET("/api/grants", { params: { query } })));
export const sessionsQuery = pages(["sessions"], (query) => take(api.GET("/api/sessions", { params: { query } })));
export const membersQuery = pages(["members"], (query) =>
  take(api.GET("/api/workspace/members", { params: { query } })),
);
export const invitationsQuery = pages(["invitations"], (query) =>
  take(api.GET("/api/workspace/invitations", { params: { query } })),
);
export const groupsQuery = pages(["groups"], (query) => take(api.GET("/api/groups", { params: { query } })), 200);

/** One group; for its owner also what others opened through it. */
export function groupQuery(id: string) {
  return queryOptions({
    queryKey: ["groups", id],
    queryFn: () => take(api.GET("/api/groups/{id}", { params: { path: { id } } })),
  });
}

/** The event targets. Queries about one target also begin with this key. */
export const eventTargetsQuery = queryOptions({
  queryKey: ["event-targets"],
  queryFn: () => take(api.GET("/api/webhooks")),
});

export function eventTargetQuery(id: string) {
  return queryOptions({
    queryKey: ["event-targets", id],
    queryFn: () => take(api.GET("/api/webhooks/{id}", { params: { path: { id } } })),
  });
}

/** Deliveries to a target, newest first. */
export function eventDeliveriesQuery(id: string) {
  return pages(["event-deliveries", id], (query) =>
    take(api.GET("/api/webhooks/{id}/deliveries", { params: { path: { id }, query } })),
  );
}

/** Audit entries of the workspace; `filter` as the route takes it. */
export function auditQuery(filter: { action?: string; userId?: string; since?: string; until?: string }) {
  return pages(["audit", filter], (query) =>
    take(api.GET("/api/audit", { params: { query: { ...query, ...filter } } })),
  );
}

/** Items read by my credentials, or by one of them. */
export function readsQuery(filter: { credential?: string }) {
  return pages(["reads", filter], (query) =>
    take(api.GET("/api/audit/reads", { params: { query: { ...query, ...filter } } })),
  );
}

interface PageQuery {
  limit: number;
  cursor?: string;
}

function pages<P extends { nextCursor: string | null }>(
  queryKey: readonly unknown[],
  fetchPage: (query: PageQuery) => Promise<P>,
  limit = 50,
) {
  return infiniteQueryOptions({
    queryKey: [...queryKey, "pages"],
    queryFn: ({ pageParam }) => fetchPage({ limit, ...(pageParam !== "" && { cursor: pageParam }) }),
    initialPageParam: "",
    getNextPageParam: (page: P) => page.nextCursor,
  });
}
