import { type InfiniteData, keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import type { DataOf } from "#api/client.ts";
import type { BrowseBody, Connector, ConnectorPublic, SourceKind } from "#api/connector-records.ts";
import { api } from "./client.ts";
import { waitsForSomebody } from "./connector-words.ts";
import { pages } from "./pages.ts";

/** Refetch interval, besides changes of a run (`live-syncs.ts`); a hidden page doesn't refetch. */
const LOOK_MS = 20_000;
/** No run reports the progress of a purge. */
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
  // Every result shows a source by its name.
  staleTime: 60_000,
});

/** A source that can be connected; undefined until the sources have arrived, and for one that is unknown. */
export function useSource(providerId: string): SourceKind | undefined {
  return useQuery(sourcesQuery).data?.sources.find((source) => source.providerId === providerId);
}

/** A connector, or settings that no connector has yet. */
export type BrowseTarget = { connectorId: string } | { settings: BrowseBody };

/** Lists a source's nodes below a node. */
export function browseQuery(target: BrowseTarget, below: { parent: string | null; query?: string }) {
  return {
    ...pages(["browse", target, below], "nodes", ({ cursor }) => {
      const at = { ...below, ...(cursor !== undefined && { cursor }) };
      if ("settings" in target) return api.post("/api/connectors/browse", { body: { ...target.settings, ...at } });
      return api.post("/api/connectors/{id}/browse", { params: { path: { id: target.connectorId } }, body: at });
    }),
    // The query key contains secrets: removed as soon as nothing shows it.
    gcTime: 0,
    retry: false,
  };
}

/** Number of connectors that wait for the person: for credentials, an owner, a decision. Among the first 200. */
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

/** Users named by its source, with numbers of them: everyone, or those who aren't linked. */
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

/** Items that wait for a decision: the source no longer has them. */
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

/** Its items without searchable text that the person can see. */
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

/** The URL for its app's webhooks, if the source takes them. */
export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "webhook", id],
    queryFn: async () => (await api.get("/api/connectors/{id}/webhook", { params: { path: { id } } })).webhook,
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
      return (await api.get("/api/connectors/{id}/syncs/{syncId}", { params })).sync;
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
      const { syncs } = await api.get("/api/connectors/{id}/syncs", { params });
      return syncs.filter((sync) => sync !== null);
    },
  });
}
