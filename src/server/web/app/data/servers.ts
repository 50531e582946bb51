import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Connection } from "#api/connections.ts";
import { api, take } from "./client.ts";
import { Problem } from "./problem.ts";

/** Refetch interval; a hidden page doesn't refetch. */
const LOOK_MS = 10_000;
/** While a person signs in elsewhere. */
const PENDING_MS = 2_000;

/** The servers that the person can see: a workspace has at most 100. */
export const serversQuery = queryOptions({
  queryKey: ["servers", "all"],
  queryFn: async () => (await take(api.GET("/api/mcp-servers", { params: { query: { limit: 200 } } }))).servers,
  refetchInterval: LOOK_MS,
});

/** One of them. @throws Problem `not_found` */
export function serverQuery(id: string) {
  return queryOptions({
    ...serversQuery,
    select: (servers) => {
      const server = servers.find((one) => one.id === id);
      if (server === undefined) throw new Problem({ code: "not_found", status: 404 });
      return server;
    },
  });
}

export function healthQuery(id: string) {
  return queryOptions({
    queryKey: ["servers", "health", id],
    queryFn: () => take(api.GET("/api/mcp-servers/{id}/health", { params: { path: { id } } })),
    refetchInterval: LOOK_MS,
  });
}

/** The apps that can be connected; `q` is part of the name. */
export function appsQuery(id: string, q = "") {
  return infiniteQueryOptions({
    queryKey: ["servers", "apps", id, q],
    queryFn: ({ pageParam }) =>
      take(
        api.GET("/api/mcp-servers/{id}/apps", {
          params: {
            path: { id },
            query: { limit: 50, ...(q !== "" && { q }), ...(pageParam !== "" && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
  });
}

export function connectionsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["servers", "connections", id],
    queryFn: ({ pageParam }) =>
      take(
        api.GET("/api/mcp-servers/{id}/connections", {
          params: { path: { id }, query: { limit: 100, ...(pageParam !== "" && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
    refetchInterval: ({ state }) => {
      const all: readonly Connection[] = state.data?.pages.flatMap(({ connections }) => connections) ?? [];
      return all.some(({ status }) => status === "pending") ? PENDING_MS : LOOK_MS;
    },
  });
}

/** The person's own working connections to all servers, on which connectors can be built. */
export const myConnectionsQuery = queryOptions({
  queryKey: ["servers", "mine"],
  queryFn: async () => {
    const { servers } = await take(api.GET("/api/mcp-servers", { params: { query: { limit: 200 } } }));
    const lists = await Promise.all(
      servers.map(async (server) => {
        const params = { path: { id: server.id }, query: { limit: 200 } };
        const { connections } = await take(api.GET("/api/mcp-servers/{id}/connections", { params }));
        const mine = connections.filter(({ isMine, status }) => isMine && status === "active");
        return mine.map(({ id, name, access }) => ({
          id,
          label: name === server.name ? name : `${name} (${server.name})`,
          access,
        }));
      }),
    );
    return lists.flat();
  },
});
