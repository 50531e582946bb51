import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { ProviderServer, ServerTest } from "#api/provider-servers.ts";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { healthQuery, serverQuery } from "#server/web/app/data/servers.ts";
import { adviceOn, AUTH_WORDS, calledItself, offerWords, serverState, returnNotice } from "./server-words.ts";
import { isAdmin } from "#server/web/app/shell/nav.ts";
import { NothingHere } from "#server/web/app/shell/nothing-here.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, Fact, Section, Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time, useTimeWords } from "#server/web/app/ui/time.tsx";
import { Apps } from "./apps.tsx";
import { Connections } from "./connections.tsx";
import { Settings } from "./server-settings.tsx";
import { testTitle, TestSteps } from "./test-steps.tsx";
import { Tools } from "./tools.tsx";

/** One server: its state, what can be connected, who has, and for admins its settings. */
export function Page() {
  const { serverId = "" } = useParams({ strict: false });
  const { role } = useSession();
  const query = useQuery(serverQuery(serverId));
  const [test, setTest] = useState<ServerTest>();
  if (query.error !== null) {
    const problem = toProblem(query.error);
    return problem.code === "not_found" ? <NothingHere /> : <ProblemNotice problem={problem} />;
  }
  if (query.data === undefined) return <Skeleton lines={6} />;
  const server = query.data;
  const { title, tone } = serverState(server);
  const notice = returnNotice(addressParameter("status"), addressParameter("reason"));
  return (
    <>
      <nav aria-label="Breadcrumb" className="text-muted mb-1.5 text-xs">
        <Link to="/workspace/servers">Provider servers</Link>
      </nav>
      <PageHeading
        title={server.name}
        {...(isAdmin(role) && { action: <TestNow onTested={setTest} serverId={server.id} /> })}
      >
        <Badge tone={tone}>{title}</Badge>
      </PageHeading>
      <div className="space-y-5">
        {notice && <Notice tone={notice.tone}>{notice.text}</Notice>}
        {test === undefined ? <Failure server={server} /> : <Tested onClose={() => setTest(undefined)} test={test} />}
        <Facts server={server} />
        <Apps server={server} />
        <Connections server={server} />
        {/* A server that only answers signed-in people hasn't reported its content yet. */}
        {isAdmin(role) && server.enabled && server.capabilities?.tools !== false && <Tools server={server} />}
        {isAdmin(role) && <Settings server={server} />}
      </div>
    </>
  );
}

function TestNow({ serverId, onTested }: { serverId: string; onTested(test: ServerTest): void }) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  async function run(): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      const params = { path: { id: serverId } };
      onTested(await take(api.POST("/api/mcp-servers/{id}/connection-tests", { params, body: {} })));
      await client.invalidateQueries({ queryKey: ["servers"] });
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className="space-y-2">
      <Button isBusy={isBusy} onClick={() => void run()}>
        {isBusy ? "Testing…" : "Test now"}
      </Button>
      {problem !== undefined && <ProblemNotice className="max-w-sm" problem={problem} />}
    </div>
  );
}

function Tested({ test, onClose }: { test: ServerTest; onClose(): void }) {
  return (
    <div aria-live="polite">
      <Section
        action={
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
        }
        title={testTitle(test)}
      >
        <div className="max-w-xl">
          <TestSteps test={test} />
        </div>
      </Section>
    </div>
  );
}

/** Its problem, and what people can do. */
function Failure({ server }: { server: ProviderServer }) {
  const when = useTimeWords();
  const health = useQuery(healthQuery(server.id)).data;
  if (!server.enabled) {
    return (
      <Notice>
        The server is off: nothing is read through it, and no one can connect it. An admin can turn it on.
      </Notice>
    );
  }
  if (!health?.lastProblem || health.status === "healthy") return null;
  const { lastProblem, consecutiveFailures, nextCheckAt } = health;
  return (
    <Notice tone="warn">
      <p>
        {lastProblem.message} {adviceOn(lastProblem.code)}
      </p>
      <p className="mt-1">
        {consecutiveFailures > 1 && `The last ${consecutiveFailures} checks failed. `}
        {nextCheckAt !== null && `kb checks again ${when(nextCheckAt)}.`}
      </p>
    </Notice>
  );
}

function Facts({ server }: { server: ProviderServer }) {
  const { url, auth, serverInfo, protocolVersion, capabilities, connectPolicy, createdAt, createdBy, health } = server;
  const latencyMs = useQuery(healthQuery(server.id)).data?.latencyMs ?? null;
  const offers = offerWords(capabilities);
  const name = calledItself(serverInfo);
  return (
    <dl className="grid gap-x-8 gap-y-1.5 lg:grid-cols-2">
      <Fact label="URL">{url}</Fact>
      <Fact label="Sign-in">
        {AUTH_WORDS[auth.kind]}
        {auth.headerName !== undefined && ` (${auth.headerName})`}
      </Fact>
      {name !== undefined && <Fact label="Server">{name}</Fact>}
      {protocolVersion !== null && <Fact label="MCP revision">{protocolVersion}</Fact>}
      {offers !== undefined && <Fact label="Offers">{offers}</Fact>}
      <Fact label="Last check">
        <Time at={health.checkedAt} never="not yet" />
        {latencyMs !== null && health.status === "healthy" && `, in ${latencyMs.toLocaleString("en-GB")} ms`}
      </Fact>
      <Fact label="Open to">{connectPolicy === "admins" ? "Admins" : "Every member"}</Fact>
      <Fact label="Added">
        <Time at={createdAt} /> by {createdBy.name || "a former member"}
      </Fact>
    </dl>
  );
}
