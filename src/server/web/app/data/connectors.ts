import { type InfiniteData, keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import type { DataOf } from "#api/client.ts";
import type { BrowseBody, Connector, ConnectorPublic, SourceKind } from "#api/connector-records.ts";
import { api } from "./client.ts";
import { waitsForSomebody } from "./connector-words.ts";
import { pages } from "./pages.ts";

/**
 * The interval at which connectors are refetched, besides when a run changes (`live-syncs.ts`). A hidden page doesn't
 * refetch.
 */
const LOOK_MS = 20_000;
/** The interval during a purge, because no run reports its progress. */
const PURGE_MS = 2_000;

function lookAgainAfter(connector: Connector | ConnectorPublic | undefined): number {
  return connector?.state === "deleting" ? PURGE_MS : LOOK_MS;
}

export const connectorsQuery = pages(
  ["connectors"],
  "connectors",
  (query) => api.get("/api/connectors", { params: { query } }),
  { again: (connectors) => Math.min(...connectors.map(lookAgainAfter), LOOK_MS) },
);

/** The sources that can be connected. */
export const sourcesQuery = queryOptions({
  queryKey: ["sources"],
  queryFn: () => api.get("/api/connectors/sources"),
  // Cached for longer, because every result shows a source by its name.
  staleTime: 60_000,
});

/** Returns a source that can be connected; undefined until the sources have arrived, and for an unknown source. */
export function useSource(providerId: string): SourceKind | undefined {
  return useQuery(sourcesQuery).data?.sources.find((source) => source.providerId === providerId);
}

/** A connector, or settings for which no connector exists yet. */
export type BrowseTarget = { connectorId: string } | { settings: BrowseBody };

/** Lists a source's nodes below a node. */
export function browseQuery(target: BrowseTarget, below: { parent: string | null; query?: string }) {
  return {
    ...pages(["browse", target, below], "nodes", ({ cursor }) => {
      const at = { ...below, ...(cursor !== undefined && { cursor }) };
      if ("settings" in target) return api.post("/api/connectors/browse", { body: { ...target.settings, ...at } });
      return api.post("/api/connectors/{id}/browse", { params: { path: { id: target.connectorId } }, body: at });
    }),
    // The query key contains secrets, so it is removed as soon as nothing uses it.
    gcTime: 0,
    retry: false,
  };
}

/** The number of connectors among the first 200 that wait for the person: for credentials, an owner or a decision. */
export const waitingQuery = queryOptions({
  queryKey: ["connectors", "waiting"],
  queryFn: async () => {
    const { connectors } = await api.get("/api/connectors", { params: { query: { limit: 200 } } });
    return connectors.filter((connector) => "counts" in connector && waitsForSomebody(connector)).length;
  },
  refetchInterval: 60_000,
});

/** One connector; `not_found` if it doesn't exist or the person is neither its owner nor an admin. */
export function connectorQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "one", id],
    queryFn: async () => (await api.get("/api/connectors/{id}", { params: { path: { id } } })).connector,
    refetchInterval: ({ state }) => lookAgainAfter(state.data),
  });
}

/** Users that the connector's source names, with their numbers: everyone, or only those who aren't linked. */
export function peopleQuery(id: string, isForAll: boolean) {
  const unlinked = isForAll ? "false" : "true";
  return {
    ...pages(["connectors", "people", id, isForAll], "people", (query) =>
      api.get("/api/connectors/{id}/people", { params: { path: { id }, query: { ...query, unlinked } } }),
    ),
    select: ({ pages }: InfiniteData<DataOf<"get", "/api/connectors/{id}/people">>) => ({
      people: pages.flatMap(({ people }) => people),
      summary: pages[0]?.summary,
    }),
  };
}

/** Items that the source no longer has and that wait for a decision. */
export function removalsQuery(id: string) {
  return pages(["connectors", "removals", id], "removals", (query) =>
    api.get("/api/connectors/{id}/removals", { params: { path: { id }, query } }),
  );
}

/** Recently removed items that can be restored. */
export function removedQuery(id: string) {
  return pages(["connectors", "removed", id], "removed", (query) =>
    api.get("/api/connectors/{id}/removed", { params: { path: { id }, query } }),
  );
}

/** The connector's items without searchable text that the person can see. */
export function withoutTextQuery(id: string) {
  return pages(
    ["connectors", "without-text", id],
    "files",
    (query) =>
      api.get("/api/connectors/{id}/files", {
        params: { path: { id }, query: { ...query, indexState: "unsearchable" } },
      }),
    { limit: 20 },
  );
}

const WAITING_MS = 3_000;

/** The URL for webhooks of the connector's app, if the source supports them. */
export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "webhook", id],
    queryFn: async () => (await api.get("/api/connectors/{id}/webhook", { params: { path: { id } } })).webhook,
    // The app sends its secret while the person is on the app's site.
    refetchInterval: ({ state }) => (state.data?.offered?.secret === null ? WAITING_MS : false),
  });
}

/** One run with a sample of skipped items. */
export function syncQuery(id: string, syncId: string) {
  return queryOptions({
    queryKey: ["connectors", "sync", id, syncId],
    queryFn: async () => {
      const params = { path: { id, syncId } };
      return (await api.get("/api/connectors/{id}/syncs/{syncId}", { params })).sync;
    },
  });
}

/** The connector's last runs, newest first. Refetched when its last run changes. */
export function syncsQuery({ id, lastSync }: Pick<Connector, "id" | "lastSync">) {
  return queryOptions({
    queryKey: ["connectors", "syncs", id, lastSync?.id, lastSync?.state],
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const params = { path: { id }, query: { limit: 50 } };
      const { syncs } = await api.get("/api/connectors/{id}/syncs", { params });
      return syncs.filter((sync) => sync !== null);
    },
  });
}
