import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { BrowseBody, Connector, ConnectorPublic } from "#api/connector-records.ts";
import { waitsForSomebody } from "./connector-words.ts";
import { api, take } from "./client.ts";

export const connectorsQuery = infiniteQueryOptions({
  queryKey: ["connectors", "pages"],
  queryFn: ({ pageParam }) =>
    take(
      api.GET("/api/connectors", { params: { query: { limit: 50, ...(pageParam !== "" && { cursor: pageParam }) } } }),
    ),
  initialPageParam: "",
  getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
  refetchInterval: ({ state }) =>
    Math.min(...(state.data?.pages.flatMap(({ connectors }) => connectors) ?? []).map(lookAgainAfter), LOOK_MS),
});

/** Refetch interval, besides changes of a run (`live-syncs.ts`); a hidden page doesn't refetch. */
const LOOK_MS = 20_000;
/** No run reports the progress of a purge. */
const PURGE_MS = 2_000;

function lookAgainAfter(connector: Connector | ConnectorPublic | undefined): number {
  return connector?.state === "deleting" ? PURGE_MS : LOOK_MS;
}

/** The sources that can be connected. */
export const sourcesQuery = queryOptions({
  queryKey: ["sources"],
  queryFn: () => take(api.GET("/api/connectors/sources")),
  // Every result shows a source by its name.
  staleTime: 60_000,
});

/** A connector, or settings that no connector has yet. */
export type BrowseTarget = { connectorId: string } | { settings: BrowseBody };

/** Lists a source's nodes below a node. */
export function browseQuery(target: BrowseTarget, below: { parent: string | null; query?: string }) {
  return infiniteQueryOptions({
    queryKey: ["browse", target, below],
    queryFn: ({ pageParam }) => {
      const at = { ...below, ...(pageParam !== "" && { cursor: pageParam }) };
      if ("settings" in target)
        return take(api.POST("/api/connectors/browse", { body: { ...target.settings, ...at } }));
      const params = { path: { id: target.connectorId } };
      return take(api.POST("/api/connectors/{id}/browse", { params, body: at }));
    },
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
    // The query key contains secrets: removed as soon as nothing shows it.
    gcTime: 0,
    retry: false,
  });
}

/** Number of connectors that wait for the person: for credentials, an owner, a decision. Among the first 200. */
export const waitingQuery = queryOptions({
  queryKey: ["connectors", "waiting"],
  queryFn: async () => {
    const { connectors } = await take(api.GET("/api/connectors", { params: { query: { limit: 200 } } }));
    return connectors.filter((connector) => "counts" in connector && waitsForSomebody(connector)).length;
  },
  refetchInterval: 60_000,
});

/** One connector; `not_found` if it doesn't exist or the person is neither its owner nor an admin. */
export function connectorQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "one", id],
    queryFn: async () => (await take(api.GET("/api/connectors/{id}", { params: { path: { id } } }))).connector,
    refetchInterval: ({ state }) => lookAgainAfter(state.data),
  });
}

/** Users named by its source: everyone, or those who aren't linked. */
export function peopleQuery(id: string, isForAll: boolean) {
  return infiniteQueryOptions({
    queryKey: ["connectors", "people", id, isForAll],
    queryFn: ({ pageParam }) =>
      take(
        api.GET("/api/connectors/{id}/people", {
          params: {
            path: { id },
            query: { limit: 50, unlinked: isForAll ? "false" : "true", ...(pageParam !== "" && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
  });
}

/** Items that wait for a decision: the source no longer has them. */
export function removalsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["connectors", "removals", id],
    queryFn: ({ pageParam }) =>
      take(
        api.GET("/api/connectors/{id}/removals", {
          params: { path: { id }, query: { limit: 50, ...(pageParam !== "" && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
  });
}

/** Recently removed items that can be restored. */
export function removedQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["connectors", "removed", id],
    queryFn: ({ pageParam }) =>
      take(
        api.GET("/api/connectors/{id}/removed", {
          params: { path: { id }, query: { limit: 50, ...(pageParam !== "" && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
  });
}

/** Its items without searchable text that the person can see. */
export function withoutTextQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["connectors", "without-text", id],
    queryFn: ({ pageParam }) =>
      take(
        api.GET("/api/connectors/{id}/files", {
          params: {
            path: { id },
            query: { limit: 20, indexState: "unsearchable", ...(pageParam !== "" && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
  });
}

const WAITING_MS = 3_000;

/** The URL for its app's webhooks, if the source takes them. */
export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "webhook", id],
    queryFn: async () => (await take(api.GET("/api/connectors/{id}/webhook", { params: { path: { id } } }))).webhook,
    // The app sends its secret while the person is on its site.
    refetchInterval: ({ state }) => (state.data?.offered?.secret === null ? WAITING_MS : false),
  });
}

/** One run with a sample of skipped items. */
export function syncQuery(id: string, syncId: string) {
  return queryOptions({
    queryKey: ["connectors", "sync", id, syncId],
    queryFn: async () => {
      const params = { path: { id, syncId } };
      return (await take(api.GET("/api/connectors/{id}/syncs/{syncId}", { params }))).sync;
    },
  });
}

/** Its last runs, newest first; refetched when the connector's last run changes. */
export function syncsQuery({ id, lastSync }: Pick<Connector, "id" | "lastSync">) {
  return queryOptions({
    queryKey: ["connectors", "syncs", id, lastSync?.id, lastSync?.state],
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const params = { path: { id }, query: { limit: 50 } };
      const { syncs } = await take(api.GET("/api/connectors/{id}/syncs", { params }));
      return syncs.filter((sync) => sync !== null);
    },
  });
}
