import { useQueryClient } from "@tanstack/react-query";

/** Fetches the queries again whose keys begin with one of these names, as far as the page shows them. */
export function useRefetch(): (names: readonly string[]) => Promise<void> {
  const client = useQueryClient();
  return async (names) => {
    for (const name of names) await client.invalidateQueries({ queryKey: [name] });
  };
}
