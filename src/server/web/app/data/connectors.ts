import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { BrowseBody, Connector, ConnectorPublic } from "#api/connector-records.ts";
import { waitsForSomebody } from "#server/web/app/connector-words.ts";
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

/** How often what is shown is asked again, besides when a run changes (`live-syncs.ts`); a hidden page does not ask. */
const LOOK_MS = 20_000;
/** No run tells how far a purge is. */
const PURGE_MS = 2_000;

function lookAgainAfter(connector: Connector | ConnectorPublic | undefined): number {
  return connector?.state === "deleting" ? PURGE_MS : LOOK_MS;
}

/** What can be connected. */
export const sourcesQuery = queryOptions({
  queryKey: ["sources"],
  queryFn: () => take(api.GET("/api/connectors/sources")),
  // Every result shows one by its name.
  staleTime: 60_000,
});

/** A connector, or settings that none has yet. */
export type BrowseTarget = { connectorId: string } | { settings: BrowseBody };

/** What a source holds below a node. */
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
    // Secrets are in its key: forgotten as soon as nothing shows it.
    gcTime: 0,
    retry: false,
  });
}

/** How many connectors wait for the person: for credentials, an owner, a decision. Of the first 200. */
export const waitingQuery = queryOptions({
  queryKey: ["connectors", "waiting"],
  queryFn: async () => {
    const { connectors } = await take(api.GET("/api/connectors", { params: { query: { limit: 200 } } }));
    return connectors.filter((connector) => "counts" in connector && waitsForSomebody(connector)).length;
  },
  refetchInterval: 60_000,
});

/** One connector; `not_found` for what is not there and for who is neither its owner nor an admin. */
export function connectorQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "one", id],
    queryFn: async () => (await take(api.GET("/api/connectors/{id}", { params: { path: { id } } }))).connector,
    refetchInterval: ({ state }) => lookAgainAfter(state.data),
  });
}

/** Users whom its source named: everyone, or those who are not linked. */
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

/** Items that wait for a decision: the source has them no more. */
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

/** Items that were removed lately and can be restored. */
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

/** Its items that have no searchable text, of those the person can see. */
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

/** Where its app can tell of changes, for a source that takes webhooks. */
export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "webhook", id],
    queryFn: async () => (await take(api.GET("/api/connectors/{id}/webhook", { params: { path: { id } } }))).webhook,
    // The app tells its secret while the person is over there.
    refetchInterval: ({ state }) => (state.data?.offered?.secret === null ? WAITING_MS : false),
  });
}

/** One run with a sample of what it left out. */
export function syncQuery(id: string, syncId: string) {
  return queryOptions({
    queryKey: ["connectors", "sync", id, syncId],
    queryFn: async () => {
      const params = { path: { id, syncId } };
      return (await take(api.GET("/api/connectors/{id}/syncs/{syncId}", { params }))).sync;
    },
  });
}

/** Its last runs, newest first; asked again when the connector's last run is another one. */
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
