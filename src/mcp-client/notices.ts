import type { Client, McpSubscription } from "@modelcontextprotocol/client";

type ListListener = (list: "tools" | "resources") => void;
type UriListener = (uri: string) => void;

/** What a server says unasked, for those who want to know. Notices are hints: one that gets lost costs nothing but time. */
export function makeNotices() {
  const listListeners: ListListener[] = [];
  const uriListeners: UriListener[] = [];
  const uris = new Set<string>();
  let stream: McpSubscription | undefined;
  return {
    onListChanged(listener: ListListener): void {
      listListeners.push(listener);
    },
    onUpdated(listener: UriListener): void {
      uriListeners.push(listener);
    },
    /** Notes what is subscribed to; false over the limit. */
    add(uri: string, max: number): boolean {
      return uris.has(uri) || (uris.size < max && uris.add(uri) !== undefined);
    },
    attach(client: Client): void {
      const tell = (list: "tools" | "resources") => () => {
        for (const listener of listListeners) listener(list);
      };
      client.setNotificationHandler("notifications/tools/list_changed", tell("tools"));
      client.setNotificationHandler("notifications/resources/list_changed", tell("resources"));
      client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => {
        if (uris.has(uri)) for (const listener of uriListeners) listener(uri);
      });
    },
    /** Of the newest revision: one stream for all that is subscribed to. */
    async listen(client: Client, timeoutMs: number): Promise<void> {
      const filter = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: [...uris] };
      const former = stream;
      stream = await client.listen(filter, { timeout: timeoutMs });
      await former?.close().catch(() => {});
    },
  };
}
