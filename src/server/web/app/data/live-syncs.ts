import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

/** What is asked again when a run changed. */
const SHOWN = new Set<unknown>(["pages", "one", "waiting"]);

/**
 * Follows the runs of the person's connectors, as long as somebody looks. A hidden page gives its connection back: a browser
 * opens six to a site over HTTP/1.1.
 */
export function useLiveSyncs(): void {
  const client = useQueryClient();
  useEffect(() => {
    let events: EventSource | undefined;
    let last: string | undefined;
    const follow = () => {
      events = new EventSource("/api/connectors/progress");
      events.addEventListener("syncs", ({ data }: MessageEvent<string>) => {
        const isNew = last !== undefined && data !== last;
        last = data;
        if (!isNew) return;
        void client.invalidateQueries({
          predicate: ({ queryKey: [first, second] }) => first === "connectors" && SHOWN.has(second),
        });
      });
    };
    const leave = () => {
      events?.close();
      events = undefined;
    };
    const look = () => {
      if (document.visibilityState === "hidden") leave();
      else if (events === undefined) follow();
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      leave();
    };
  }, [client]);
}
