import { useQuery } from "@tanstack/react-query";
import type { OpenedIntent } from "#api/connections.ts";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { leaveFor } from "#server/web/app/data/leave.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { sessionQuery } from "#server/web/app/data/queries.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { SignedInAs } from "#server/web/app/shell/signed-in-as.tsx";
import { useAct } from "#server/web/app/ui/act.ts";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button, buttonClass } from "#server/web/app/ui/button.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { HOME_PATH } from "#api/return-to.ts";

/**
 * Asks before connecting an app of a provider server: shows what, for whom and where, before the browser leaves.
 * Source: S30.
 */
export function Page() {
  const intent = useIntent();
  const session = useQuery(sessionQuery);
  const query = useQuery({
    queryKey: ["intent", intent],
    queryFn: () => api.post("/api/mcp-servers/intents/read", { body: { intent: intent ?? "" } }),
    enabled: intent !== undefined,
    staleTime: Infinity,
    retry: false,
  });
  if (intent === undefined) return <NothingToConnect hasFailed={addressParameter("status") === "failed"} />;
  const error = query.error ?? session.error;
  if (error !== null) {
    return (
      <EntryCard below={<HomeLink />} title="This can't be connected">
        <ProblemNotice problem={toProblem(error)} />
      </EntryCard>
    );
  }
  if (query.data === undefined || session.data === undefined) {
    return (
      <EntryCard title="Connect an app">
        <Skeleton lines={4} />
      </EntryCard>
    );
  }
  const { user, workspace } = session.data;
  return <Ask intent={query.data.intent} secret={intent} user={user} workspace={workspace.name} />;
}

const KEY = "kb-intent";

/** Returns the link's secret, which is kept while the person signs in in this tab. */
function useIntent(): string | undefined {
  const linked = useLinkToken();
  if (linked !== undefined) window.sessionStorage.setItem(KEY, linked);
  return linked ?? window.sessionStorage.getItem(KEY) ?? undefined;
}

interface AskProps {
  intent: OpenedIntent;
  secret: string;
  user: { email: string; name: string };
  workspace: string;
}

function Ask({ intent, secret, user, workspace }: AskProps) {
  const { serverName, serverHost, opensHost, scopes, isReconnect, returnTo, kind } = intent;
  const { run, isBusy, problem } = useAct(async () => {
    const { url } = await api.post("/api/mcp-servers/intents/open", { body: { intent: secret } });
    window.sessionStorage.removeItem(KEY);
    await leaveFor(url);
  });

  return (
    <EntryCard below={<SignedInAs user={user} />} title={titleOf(intent)}>
      <div className="space-y-4">
        <p className="wrap-anywhere">
          {kind === "sign_in" ? "You sign in at" : "The server wants you to open a page at"}{" "}
          <strong>{opensHost}</strong>
          {kind === "sign_in" && ", and come back"}. kb then reads {serverName} ({serverHost}) as you.
        </p>
        <ul className="text-muted list-disc space-y-1 pl-5">
          <li className="wrap-anywhere">
            The connection belongs to {user.email} in the workspace {workspace}.
          </li>
          {isReconnect && kind === "sign_in" && <li>Sign in with the same account: a different one is refused.</li>}
          {kind === "elicitation" && (
            <li>When you have finished there, go back to the page of {serverName} in kb and select “Test”.</li>
          )}
          {scopes.length > 0 && (
            <li className="wrap-anywhere">
              kb asks for: <span className="font-mono text-xs">{scopes.join(", ")}</span>
            </li>
          )}
          <li>Continue only if you started this yourself.</li>
        </ul>
        <ProblemNotice problem={problem} />
        <div className="flex flex-wrap gap-2">
          <Button isBusy={isBusy} kind="primary" onClick={run}>
            Continue to {opensHost}
          </Button>
          <a className={buttonClass()} href={returnTo}>
            Cancel
          </a>
        </div>
      </div>
    </EntryCard>
  );
}

function titleOf({ kind, isReconnect, serverName }: AskProps["intent"]): string {
  if (kind === "elicitation") return `Open a page for ${serverName}?`;
  return isReconnect ? `Sign in to ${serverName} again?` : `Connect ${serverName}?`;
}

function NothingToConnect({ hasFailed }: { hasFailed: boolean }) {
  return (
    <EntryCard
      below={<HomeLink />}
      lead={
        hasFailed
          ? "The sign-in took more than 10 minutes, was already finished, or started in a different browser or session."
          : "The link to this page works only once."
      }
      title={hasFailed ? "Nothing was connected" : "Nothing to connect"}
    >
      <p>Start again on the server’s page, or run: kb servers connect</p>
    </EntryCard>
  );
}

function HomeLink() {
  return <a href={HOME_PATH}>Go to the home page</a>;
}
