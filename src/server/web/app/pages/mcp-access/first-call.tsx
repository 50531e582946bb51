import { useQuery } from "@tanstack/react-query";
import { api, take } from "#server/web/app/data/client.ts";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** How often the page looks for a call; a hidden page does not look. */
const LOOK_MS = 4_000;

const callsQuery = {
  queryKey: ["reads", "newest"],
  queryFn: () => take(api.GET("/api/audit/reads", { params: { query: { limit: 20 } } })),
  refetchInterval: LOOK_MS,
  refetchIntervalInBackground: false,
};

const countsQuery = {
  queryKey: ["file-counts"],
  queryFn: () => take(api.GET("/api/connectors/file-counts-by-source")),
};

/** Whether a client has reached the tools: the newest call that was answered with something, live. */
export function FirstCall() {
  const calls = useQuery(callsQuery).data?.reads;
  if (calls === undefined) return null;
  // What the person opens on this page is no call of a client.
  const newest = calls.find(({ credential }) => !credential.startsWith("session:"));
  return (
    <div aria-live="polite">
      {newest === undefined ? (
        <Notice>Waiting for the first call… Ask your agent to search kb: the call appears here.</Notice>
      ) : (
        <Notice tone="ok">
          {newest.client ?? "A client"} called <code className="font-mono text-[0.8125rem]">{newest.tool}</code>{" "}
          <Time at={newest.at} />
        </Notice>
      )}
    </div>
  );
}

/** What an agent would find: said where there is nothing yet, with what puts something there. */
export function NothingIndexed() {
  const counts = useQuery(countsQuery).data?.counts;
  if (counts === undefined || counts.length > 0) return null;
  return (
    <Notice tone="warn">
      Nothing is indexed that you can see, so agents find nothing yet. Index a folder with{" "}
      <code className="font-mono text-[0.8125rem]">kb quickstart PATH</code>, or connect an app with{" "}
      <code className="font-mono text-[0.8125rem]">kb connectors add SOURCE</code>.
    </Notice>
  );
}
