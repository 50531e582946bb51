import type { Connection } from "#api/connections.ts";
import { api } from "#server/web/app/data/client.ts";
import { useRefetch } from "#server/web/app/data/refetch.ts";
import { useAct } from "#server/web/app/ui/act.ts";
import { callWords } from "./server-words.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";

/** The calls that kb would make with the person's connection, and the person's consent to exactly those calls. */
export function Agreement({ connection, agreement }: { connection: Connection; agreement: string }) {
  const { id, serverId, name, tools } = connection;
  const refetch = useRefetch();
  const { run, isBusy, problem } = useAct(
    async () => {
      const params = { path: { id: serverId, connectionId: id } };
      const body = { agreement };
      await api
        .post("/api/mcp-servers/{id}/connections/{connectionId}/agreement", { params, body })
        // After a failure, the agreed calls may differ from those that are shown.
        .finally(() => refetch(["servers"]));
    },
    { toast: "Saved" },
  );

  return (
    <Notice className="mt-3" tone="warn">
      <p>With your sign-in, kb would call:</p>
      <ul className="my-2 space-y-1">
        {tools.map((tool) => (
          <li className="flex flex-wrap items-center gap-2 wrap-anywhere" key={tool.role}>
            {callWords(tool)}
            {!tool.isAgreed && <Badge tone="warn">New</Badge>}
            {tool.isReadOnly === false && <Badge tone="warn">May change things</Badge>}
          </li>
        ))}
      </ul>
      <p className="mb-2">
        Agree only if you want each of these calls made in your name, on a schedule and in live searches.
      </p>
      <Button aria-label={`Agree: ${name}`} isBusy={isBusy} onClick={run}>
        Agree
      </Button>
      <ProblemNotice className="mt-2" problem={problem} />
    </Notice>
  );
}
