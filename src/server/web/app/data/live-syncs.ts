import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Sync } from "#api/connector-records.ts";

/** Queries about connectors to refetch when a run progresses. The others are refetched when a run began or ended. */
const MOVES = new Set<unknown>(["pages", "one", "waiting", "syncs"]);

/**
 * Follows the runs of the person's connectors while the page is visible. A hidden page closes its connection, because a
 * browser opens at most six connections per site over HTTP/1.1.
 */
export function useLiveSyncs(): void {
  const client = useQueryClient();
  useEffect(() => {
    let events: EventSource | undefined;
    let last: string | undefined;
    const follow = () => {
      events = new EventSource("/api/connectors/progress");
      events.addEventListener("syncs", ({ data }: MessageEvent<string>) => {
        const before = last;
        last = data;
        if (before === undefined || data === before) return;
        const isOther = runsIn(data) !== runsIn(before);
        void client.invalidateQueries({
          predicate: ({ queryKey: [first, second] }) => first === "connectors" && (isOther || MOVES.has(second)),
        });
      });
    };
    const leave = () => {
      events?.close();
      events = undefined;
    };
    const check = () => {
      if (document.visibilityState === "hidden") leave();
      else if (events === undefined) follow();
    };
    check();
    document.addEventListener("visibilitychange", check);
    return () => {
      document.removeEventListener("visibilitychange", check);
      leave();
    };
  }, [client]);
}

/** Returns the runs of an event and which of them have finished, to detect whether a run began or ended. */
function runsIn(data: string): string {
  const { syncs } = JSON.parse(data) as { syncs: Pick<Sync, "id" | "finishedAt">[] }; // as the route answers
  return syncs.map(({ id, finishedAt }) => `${id} ${finishedAt ?? ""}`).join();
}
