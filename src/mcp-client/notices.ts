import type { Client, McpSubscription } from "@modelcontextprotocol/client";
import type { McpProblem } from "./problem.ts";

type ListListener = (list: "tools" | "resources") => void;
type UriListener = (uri: string) => void;
type EndListener = (problem: McpProblem) => void;

/**
 * Passes a server's unsolicited notifications to listeners. Notifications are hints: a lost one only causes a delay.
 */
export function makeNotices() {
  const listListeners: ListListener[] = [];
  const uriListeners: UriListener[] = [];
  const uris = new Set<string>();
  let stream: McpSubscription | undefined;
  let endListener: EndListener | undefined;
  let ended: McpProblem | undefined;

  /** Records that the stream has ended. Only the first problem is kept. */
  function end(problem: McpProblem): void {
    if (ended !== undefined) return;
    ended = problem;
    endListener?.(problem);
  }

  return {
    end,
    onEnded(listener: EndListener): void {
      endListener = listener;
      if (ended !== undefined) listener(ended);
    },
    onListChanged(listener: ListListener): void {
      listListeners.push(listener);
    },
    onUpdated(listener: UriListener): void {
      uriListeners.push(listener);
    },
    /** Adds a subscription; returns false if that would exceed the limit. */
    add(uri: string, max: number): boolean {
      return uris.has(uri) || (uris.size < max && uris.add(uri) !== undefined);
    },
    attach(client: Client): void {
      const notify = (list: "tools" | "resources") => () => {
        for (const listener of listListeners) listener(list);
      };
      client.setNotificationHandler("notifications/tools/list_changed", notify("tools"));
      client.setNotificationHandler("notifications/resources/list_changed", notify("resources"));
      client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => {
        if (uris.has(uri)) for (const listener of uriListeners) listener(uri);
      });
    },
    /** Opens the stream of the newest revision, which is one stream for all subscriptions. `problem` returns the reason after it has ended. */
    async listen(client: Client, timeoutMs: number, problem: () => McpProblem): Promise<void> {
      const filter = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: [...uris] };
      const former = stream;
      const current = await client.listen(filter, { timeout: timeoutMs });
      stream = current;
      void current.closed.then((by) => by !== "local" && stream === current && end(problem()));
      await former?.close().catch(() => {});
    },
  };
}
