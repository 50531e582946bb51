import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Connection } from "#api/connections.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { callWords } from "./server-words.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** The calls that kb would make with the person's connection, and their consent to exactly those. */
export function Agreement({ connection, agreement }: { connection: Connection; agreement: string }) {
  const { id, serverId, name, tools } = connection;
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  async function agree(): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      const params = { path: { id: serverId, connectionId: id } };
      await take(
        api.POST("/api/mcp-servers/{id}/connections/{connectionId}/agreement", { params, body: { agreement } }),
      );
      toast("Saved");
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
      await client.invalidateQueries({ queryKey: ["servers"] });
    }
  }

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
        Agree only if you want each of these calls made in your name, on a schedule and when you search live.
      </p>
      <Button aria-label={`Agree: ${name}`} isBusy={isBusy} onClick={() => void agree()}>
        Agree
      </Button>
      {problem && <ProblemNotice className="mt-2" problem={problem} />}
    </Notice>
  );
}
