import { useQuery } from "@tanstack/react-query";
import type { FoundConnection } from "#api/connections.ts";
import { api } from "#server/web/app/data/client.ts";
import { leaveFor } from "#server/web/app/data/leave.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { sessionQuery } from "#server/web/app/data/queries.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { SignedInAs } from "#server/web/app/shell/signed-in-as.tsx";
import { useAct } from "#server/web/app/ui/act.ts";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { HOME_PATH } from "#api/return-to.ts";

/**
 * The account that was found at a provider server. It is stored only when the person confirms that it is theirs.
 * Source: S30.
 */
export function Page() {
  const id = useLinkToken() ?? "";
  const session = useQuery(sessionQuery);
  const query = useQuery({
    queryKey: ["intent-found", id],
    queryFn: () => api.post("/api/mcp-servers/intents/found", { body: { id } }),
    enabled: id !== "",
    staleTime: Infinity,
    retry: false,
  });
  const error = query.error ?? session.error;
  if (id === "" || error !== null) {
    return (
      <EntryCard below={<a href={HOME_PATH}>Go to the home page</a>} title="Nothing was connected">
        {error === null ? <p>Start again on the server’s page.</p> : <ProblemNotice problem={toProblem(error)} />}
      </EntryCard>
    );
  }
  if (query.data === undefined || session.data === undefined) {
    return (
      <EntryCard title="Is this you?">
        <Skeleton lines={4} />
      </EntryCard>
    );
  }
  return <Decide found={query.data.found} id={id} user={session.data.user} />;
}

function Decide({ found, id, user }: { found: FoundConnection; id: string; user: { email: string; name: string } }) {
  const { serverName, serverHost, account, isNewInstead, scopes, access } = found;
  const { run, input, problem } = useAct(async (isAccepted: boolean) => {
    const { returnTo } = await api.post("/api/mcp-servers/intents/confirm", { body: { id, isAccepted } });
    await leaveFor(returnTo);
  });

  return (
    <EntryCard below={<SignedInAs user={user} />} title={account === null ? `Connect ${serverName}?` : "Is this you?"}>
      <div className="space-y-4">
        <p className="wrap-anywhere">
          {account === null ? (
            <>
              {serverName} ({serverHost}) accepted your sign-in, and doesn’t say which account it is. Connect it only if
              you just signed in there yourself.
            </>
          ) : (
            <>
              You signed in to {serverName} ({serverHost}) as <strong>{account.label}</strong>.
            </>
          )}
        </p>
        {isNewInstead && (
          <Notice tone="info">
            kb can’t tell whether this is the same account as before. It becomes a new connection, and what was read
            with the old one stays hidden.
          </Notice>
        )}
        <ul className="text-muted list-disc space-y-1 pl-5">
          <li className="wrap-anywhere">{SEEN_BY[access.visibility]}</li>
          {scopes.length > 0 && (
            <li className="wrap-anywhere">
              kb may use: <span className="font-mono text-xs">{scopes.join(", ")}</span>
            </li>
          )}
        </ul>
        <ProblemNotice problem={problem} />
        <div className="flex flex-wrap gap-2">
          <Button disabled={input === false} isBusy={input === true} kind="primary" onClick={() => run(true)}>
            {account === null ? "Connect" : `Connect ${account.label}`}
          </Button>
          <Button disabled={input === true} isBusy={input === false} onClick={() => run(false)}>
            {account === null ? "Cancel" : "That’s not me"}
          </Button>
        </div>
      </div>
    </EntryCard>
  );
}

const SEEN_BY: Readonly<Record<FoundConnection["access"]["visibility"], string>> = {
  private: "Only you see what kb reads with it.",
  members: "The members you chose see what you see in this app.",
  workspace: "Everyone in the workspace sees what you see in this app.",
};
