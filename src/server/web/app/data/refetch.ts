import { useQueryClient } from "@tanstack/react-query";

/** The first names in the keys of queries that a page changes. */
export type QueryName =
  | "accounts"
  | "connectors"
  | "event-target"
  | "event-targets"
  | "grants"
  | "groups"
  | "invitations"
  | "members"
  | "servers"
  | "session"
  | "sessions"
  | "tokens"
  | "workspace"
  | "workspaces";

/** Refetches the queries whose keys begin with one of these names and that the page shows. */
export function useRefetch(): (names: readonly QueryName[]) => Promise<void> {
  const client = useQueryClient();
  return async (names) => {
    for (const name of names) await client.invalidateQueries({ queryKey: [name] });
  };
}
