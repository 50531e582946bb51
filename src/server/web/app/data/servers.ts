import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";
import { pages } from "./pages.ts";
import { Problem } from "./problem.ts";

/** The refetch interval. A hidden page doesn't refetch. */
const LOOK_MS = 10_000;
/** The refetch interval while a person signs in on another site. */
const PENDING_MS = 2_000;

/** The servers that the person can see: a workspace has at most 100. */
export const serversQuery = queryOptions({
  queryKey: ["servers", "all"],
  queryFn: async () => (await api.get("/api/mcp-servers", { params: { query: { limit: 200 } } })).servers,
  refetchInterval: LOOK_MS,
});

/** One server. @throws Problem `not_found` */
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
    queryFn: () => api.get("/api/mcp-servers/{id}/health", { params: { path: { id } } }),
    refetchInterval: LOOK_MS,
  });
}

/** The apps that can be connected. `q` is part of an app's name. */
export function appsQuery(id: string, q = "") {
  return pages(["servers", "apps", id, q], "apps", (query) =>
    api.get("/api/mcp-servers/{id}/apps", { params: { path: { id }, query: { ...query, ...(q !== "" && { q }) } } }),
  );
}

export function connectionsQuery(id: string) {
  return pages(
    ["servers", "connections", id],
    "connections",
    (query) => api.get("/api/mcp-servers/{id}/connections", { params: { path: { id }, query } }),
    {
      limit: 100,
      again: (all) => (all.some(({ status }) => status === "pending") ? PENDING_MS : LOOK_MS),
    },
  );
}

/** The person's own working connections to all servers, from which connectors can be created. */
export const myConnectionsQuery = queryOptions({
  queryKey: ["servers", "mine"],
  queryFn: async () => {
    const { servers } = await api.get("/api/mcp-servers", { params: { query: { limit: 200 } } });
    const lists = await Promise.all(
      servers.map(async (server) => {
        const params = { path: { id: server.id }, query: { limit: 200 } };
        const { connections } = await api.get("/api/mcp-servers/{id}/connections", { params });
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
