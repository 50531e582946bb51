import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { ProviderServer, ServerTest } from "#api/provider-servers.ts";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { healthQuery, serverQuery } from "#server/web/app/data/servers.ts";
import { adviceOn, AUTH_WORDS, calledItself, offerWords, serverState, returnNotice } from "./server-words.ts";
import { LoadedPage } from "#server/web/app/shell/loaded-page.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useIsAdmin } from "#server/web/app/shell/session.ts";
import { useAct } from "#server/web/app/ui/act.ts";
import { Section, StateBadge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Fact, Facts } from "#server/web/app/ui/facts.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time, useTimeWords } from "#server/web/app/ui/time.tsx";
import { Apps } from "./apps.tsx";
import { Connections } from "./connections.tsx";
import { Settings } from "./server-settings.tsx";
import { testTitle, TestSteps } from "./test-steps.tsx";
import { Tools } from "./tools.tsx";

/** One server: its state, what can be connected, who has connected it and, for admins, its settings. */
export function Page() {
  const { serverId = "" } = useParams({ strict: false });
  return <LoadedPage query={useQuery(serverQuery(serverId))}>{(server) => <Overview server={server} />}</LoadedPage>;
}

function Overview({ server }: { server: ProviderServer }) {
  const isAdmin = useIsAdmin();
  const [test, setTest] = useState<ServerTest>();
  const notice = returnNotice(addressParameter("status"), addressParameter("reason"));
  return (
    <PageFrame
      action={isAdmin && <TestNow onTested={setTest} serverId={server.id} />}
      lead={<StateBadge {...serverState(server)} />}
      title={server.name}
      within="/workspace/servers"
    >
      {notice && <Notice tone={notice.tone}>{notice.text}</Notice>}
      {test === undefined ? <Failure server={server} /> : <Tested onClose={() => setTest(undefined)} test={test} />}
      <About server={server} />
      <Apps server={server} />
      <Connections server={server} />
      {/* A server that answers only signed-in people hasn't reported its content yet. */}
      {isAdmin && server.enabled && server.capabilities?.tools !== false && <Tools server={server} />}
      {isAdmin && <Settings server={server} />}
    </PageFrame>
  );
}

function TestNow({ serverId, onTested }: { serverId: string; onTested(test: ServerTest): void }) {
  const { run, isBusy, problem } = useAct(
    async () => {
      const params = { path: { id: serverId } };
      onTested(await api.post("/api/mcp-servers/{id}/connection-tests", { params, body: {} }));
    },
    { invalidates: ["servers"] },
  );
  return (
    <div className="space-y-2">
      <Button isBusy={isBusy} onClick={run}>
        {isBusy ? "Testing…" : "Test now"}
      </Button>
      <ProblemNotice className="max-w-sm" problem={problem} />
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

/** The server's problem, and what people can do about it. */
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
        {nextCheckAt && `kb checks again ${when(nextCheckAt)}.`}
      </p>
    </Notice>
  );
}

function About({ server }: { server: ProviderServer }) {
  const { url, auth, serverInfo, protocolVersion, capabilities, connectPolicy, createdAt, createdBy, health } = server;
  const latencyMs = useQuery(healthQuery(server.id)).data?.latencyMs ?? null;
  return (
    <Facts>
      <Fact label="URL">{url}</Fact>
      <Fact label="Sign-in">
        {AUTH_WORDS[auth.kind]}
        {auth.headerName && ` (${auth.headerName})`}
      </Fact>
      <Fact label="Server">{calledItself(serverInfo)}</Fact>
      <Fact label="MCP revision">{protocolVersion}</Fact>
      <Fact label="Offers">{offerWords(capabilities)}</Fact>
      <Fact label="Last check">
        <Time at={health.checkedAt} never="not yet" />
        {latencyMs !== null && health.status === "healthy" && `, in ${latencyMs.toLocaleString("en-GB")} ms`}
      </Fact>
      <Fact label="Open to">{connectPolicy === "admins" ? "Admins" : "Every member"}</Fact>
      <Fact label="Added">
        <Time at={createdAt} /> by {createdBy.name || "a former member"}
      </Fact>
    </Facts>
  );
}
