import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { ServerAuthBody, ServerTest } from "#api/provider-servers.ts";
import { hostOf } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { forAdmins } from "#server/web/app/shell/for-admins.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useAct } from "#server/web/app/ui/act.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Form, NameField, text } from "#server/web/app/ui/form.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { AuthFields, authOf } from "./auth-fields.tsx";
import { PolicyField, policyOf, UrlField } from "./server-fields.tsx";
import { testTitle, TestSteps } from "./test-steps.tsx";

export const Page = forAdmins("Add a provider server", NewServer);

interface Settings {
  name: string;
  url: string;
  auth: ServerAuthBody;
  connectPolicy: ReturnType<typeof policyOf>;
}

/** Adds a server exactly as it was tested. After a change of the URL or the sign-in, it must be tested again. */
function NewServer() {
  const [test, setTest] = useState<ServerTest>();
  const frame = useRef<HTMLDivElement>(null);
  const result = useRef<HTMLDivElement>(null);
  // Scrolls down to the result's button, which is below the visible part on most screens.
  useEffect(() => {
    if (test !== undefined) result.current?.scrollIntoView({ block: "nearest" });
  }, [test]);

  async function run(form: FormData): Promise<void> {
    const { url, auth } = settingsIn(form);
    setTest(await api.post("/api/mcp-servers/connection-tests", { body: { url, auth } }));
  }

  return (
    <PageFrame
      lead="Any MCP server that speaks streamable HTTP. Test it first: nothing is stored until you add it."
      title="Add a provider server"
      within="/workspace/servers"
    >
      <Section title="Settings">
        <div className="max-w-xl" onChange={({ target }) => isTested(target) && setTest(undefined)} ref={frame}>
          <Form
            onSubmit={run}
            secondary={
              <Link className="text-accent underline" to="/workspace/servers">
                Cancel
              </Link>
            }
            submit={test === undefined ? "Test" : "Test again"}
            submitKind={test === undefined ? "primary" : "plain"}
          >
            <UrlField placeholder="https://mcp.example.org/mcp" />
            <NameField hint="Without one, kb uses the name that the server gives itself." isOptional maxLength={100} />
            <AuthFields auth={{ kind: "none", hasSecret: false }} />
            <PolicyField />
          </Form>
        </div>
      </Section>
      <div aria-live="polite" className="scroll-mb-5" ref={result}>
        {test && (
          <Result
            key={JSON.stringify(test)}
            readSettings={() => settingsIn(new FormData(frame.current?.querySelector("form") ?? undefined))}
            test={test}
          />
        )}
      </div>
    </PageFrame>
  );
}

/** Whether a change of the field requires a new test. The name and the policy may change after a test. */
function isTested(field: EventTarget): boolean {
  return !(field instanceof HTMLInputElement && ["name", "isForAdmins"].includes(field.name));
}

function settingsIn(form: FormData): Settings {
  return {
    name: text(form, "name"),
    url: text(form, "url"),
    auth: authOf(form),
    connectPolicy: policyOf(form),
  };
}

function Result({ readSettings, test }: { readSettings(): Settings; test: ServerTest }) {
  const navigate = useNavigate();
  const isGood = test.ok && test.authRequired?.problem === undefined;
  const needsClient = test.authRequired?.needsClient === true;

  const { run, isBusy, problem } = useAct(
    () => {
      const settings = readSettings();
      const name = settings.name || nameOf(test) || hostOf(settings.url);
      return api.post("/api/mcp-servers", { body: { ...settings, name, ...(!test.ok && { force: true }) } });
    },
    {
      toast: ({ server: { name } }) =>
        needsClient ? `${name} added. Its settings have the redirect URL to register` : `${name} added`,
      invalidates: ["servers"],
      onDone: ({ server }) => navigate({ to: `/workspace/servers/${server.id}` }),
    },
  );

  return (
    <Section title={testTitle(test)}>
      <div className="max-w-xl space-y-4">
        <TestSteps test={test} />
        <ProblemNotice problem={problem} />
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Button isBusy={isBusy} kind={isGood ? "primary" : "plain"} onClick={run}>
            {isGood ? "Add server" : "Add it anyway"}
          </Button>
          {!test.ok && <span className="text-muted">kb keeps testing it in the background.</span>}
        </div>
      </div>
    </Section>
  );
}

function nameOf({ serverInfo }: ServerTest): string {
  return (serverInfo?.title ?? serverInfo?.name ?? "").slice(0, 100).trim();
}
