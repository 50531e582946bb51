import { type InfiniteData, QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import type { AuditPage } from "#api/audit.ts";
import type { Member } from "#api/workspace.ts";
import { api, client } from "./client.ts";
import { pages } from "./pages.ts";
import { isOutage, Problem } from "./problem.ts";

/** Retry interval while the server is down. */
const OUTAGE_MS = 4_000;

/**
 * Makes the query client. Results stay fresh for a few seconds. A query is retried only if the server gave no proper
 * response.
 */
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
  queryFn: () => api.get("/api/onboarding"),
});

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: () => api.get("/api/session"),
});

/** The offer of an invitation link, and who opened the link. Fetched once each time the page opens. */
export const invitationOfferQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: async () => {
      const [offer, { data: session }] = await Promise.all([
        api.post("/api/invitations/check", { body: { token } }),
        client.GET("/api/session"),
      ]);
      return { offer, session };
    },
    staleTime: Infinity,
  });

/** The person whose password a link sets. Fetched once each time the page opens. */
export const resetOfferQuery = (token: string) =>
  queryOptions({
    queryKey: ["password-reset", token],
    queryFn: () => api.post("/api/password-reset/check", { body: { token } }),
    staleTime: Infinity,
  });

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: () => api.get("/api/api-tokens"),
});

export const accountsQuery = queryOptions({
  queryKey: ["accounts"],
  queryFn: () => api.get("/api/accounts"),
});

export const identitiesQuery = queryOptions({
  queryKey: ["identities"],
  queryFn: () => api.get("/api/profile/identities"),
});

/** The workspace, with its settings about how its members are identified at sources. */
export const workspaceQuery = queryOptions({
  queryKey: ["workspace"],
  queryFn: async () => (await api.get("/api/workspace")).workspace,
});

export const workspacesQuery = queryOptions({
  queryKey: ["workspaces"],
  queryFn: () => api.get("/api/workspaces", { params: { query: { limit: 200 } } }),
});

/** All members, for choosing people and for showing names next to ids: at most 200, in one page. */
export const everybodyQuery = queryOptions({
  queryKey: ["members", "everybody"],
  queryFn: () => api.get("/api/workspace/members", { params: { query: { limit: 200 } } }),
});

/** Returns all members, once they have arrived. */
export function useEverybody(): readonly Member[] {
  return useQuery(everybodyQuery).data?.members ?? [];
}

export const grantsQuery = pages(["grants"], "grants", (query) => api.get("/api/grants", { params: { query } }));
export const sessionsQuery = pages(["sessions"], "sessions", (query) =>
  api.get("/api/sessions", { params: { query } }),
);
export const membersQuery = pages(["members"], "members", (query) =>
  api.get("/api/workspace/members", { params: { query } }),
);
export const invitationsQuery = pages(["invitations"], "invitations", (query) =>
  api.get("/api/workspace/invitations", { params: { query } }),
);
export const groupsQuery = pages(["groups"], "groups", (query) => api.get("/api/groups", { params: { query } }), {
  limit: 200,
});

/** One group and, for its owner, also what others opened through it. */
export function groupQuery(id: string) {
  return queryOptions({
    queryKey: ["groups", id],
    queryFn: () => api.get("/api/groups/{id}", { params: { path: { id } } }),
  });
}

/** The event targets. */
export const eventTargetsQuery = queryOptions({
  queryKey: ["event-targets"],
  queryFn: async () => (await api.get("/api/webhooks")).targets,
});

export function eventTargetQuery(id: string) {
  return queryOptions({
    queryKey: ["event-target", id],
    queryFn: async () => (await api.get("/api/webhooks/{id}", { params: { path: { id } } })).target,
  });
}

/** Deliveries to a target, newest first. */
export function eventDeliveriesQuery(id: string) {
  return pages(["event-target", id], "deliveries", (query) =>
    api.get("/api/webhooks/{id}/deliveries", { params: { path: { id }, query } }),
  );
}

/** Audit entries of the workspace, with the names of their subjects; `filter` as the route expects it. */
export function auditQuery(filter: { action?: string; userId?: string; since?: string; until?: string }) {
  return {
    ...pages(["audit", filter], "entries", (query) =>
      api.get("/api/audit", { params: { query: { ...query, ...filter } } }),
    ),
    select: ({ pages }: InfiniteData<AuditPage>) => ({
      entries: pages.flatMap(({ entries }) => entries),
      names: new Map(pages.flatMap(({ names }) => Object.entries(names))),
    }),
  };
}

/** Items that were read with the person's credentials, or with one of them. */
export function readsQuery(filter: { credential?: string }) {
  return pages(["reads", filter], "reads", (query) =>
    api.get("/api/audit/reads", { params: { query: { ...query, ...filter } } }),
  );
}
