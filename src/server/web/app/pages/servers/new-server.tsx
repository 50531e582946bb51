import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { ServerAuthBody, ServerTest } from "#api/provider-servers.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { ForAdmins } from "#server/web/app/shell/for-admins.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { CheckboxField, Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { AuthFields, authOf } from "./auth-fields.tsx";
import { testTitle, TestSteps } from "./test-steps.tsx";

export function Page() {
  return (
    <ForAdmins title="Add a provider server">
      <nav aria-label="Breadcrumb" className="text-muted mb-1.5 text-xs">
        <Link to="/workspace/servers">Provider servers</Link>
      </nav>
      <PageHeading title="Add a provider server">
        Any MCP server that speaks streamable HTTP. Test it first: nothing is stored until you add it.
      </PageHeading>
      <NewServer />
    </ForAdmins>
  );
}

interface Settings {
  name: string;
  url: string;
  auth: ServerAuthBody;
  connectPolicy: "admins" | "members";
}

/** Adds exactly what was tested: after a change of the URL or the sign-in it is tested again. */
function NewServer() {
  const [test, setTest] = useState<ServerTest>();
  const frame = useRef<HTMLDivElement>(null);
  const result = useRef<HTMLDivElement>(null);
  // Scrolls down to its button, which is below the edge on most screens.
  useEffect(() => {
    if (test !== undefined) result.current?.scrollIntoView({ block: "nearest" });
  }, [test]);

  async function run(form: FormData): Promise<void> {
    const { url, auth } = settingsIn(form);
    setTest(await take(api.POST("/api/mcp-servers/connection-tests", { body: { url, auth } })));
  }

  return (
    <div className="space-y-5">
      <Section title="Settings">
        <div className="max-w-xl" onChange={({ target }) => isTested(target) && setTest(undefined)} ref={frame}>
          <Form
            secondary={
              <Link className="text-accent underline" to="/workspace/servers">
                Cancel
              </Link>
            }
            onSubmit={run}
            submit={test === undefined ? "Test" : "Test again"}
            submitKind={test === undefined ? "primary" : "plain"}
          >
            <TextField
              autoComplete="off"
              inputMode="url"
              label="URL"
              maxLength={2000}
              name="url"
              placeholder="https://mcp.example.org/mcp"
              spellCheck={false}
            />
            <TextField
              autoComplete="off"
              hint="Without one, kb uses the name that the server gives itself."
              isOptional
              label="Name"
              maxLength={100}
              name="name"
            />
            <AuthFields auth={{ kind: "none", hasSecret: false }} />
            <CheckboxField
              hint="Otherwise every member can connect their account."
              label="Only admins can connect it"
              name="isForAdmins"
            />
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
    </div>
  );
}

/** Name and policy may change after a test. */
function isTested(field: EventTarget): boolean {
  return !(field instanceof HTMLInputElement && ["name", "isForAdmins"].includes(field.name));
}

function settingsIn(form: FormData): Settings {
  return {
    name: text(form, "name"),
    url: text(form, "url"),
    auth: authOf(form),
    connectPolicy: form.get("isForAdmins") === null ? "members" : "admins",
  };
}

function Result({ readSettings, test }: { readSettings(): Settings; test: ServerTest }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Problem>();
  const isGood = test.ok && test.authRequired?.problem === undefined;

  async function add(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const settings = readSettings();
      const name = settings.name || nameOf(test) || hostOf(settings.url);
      const body = { ...settings, name, ...(!test.ok && { force: true }) };
      const { server } = await take(api.POST("/api/mcp-servers", { body }));
      await client.invalidateQueries({ queryKey: ["servers"] });
      const needsClient = test.authRequired?.needsClient === true;
      toast(
        needsClient ? `${server.name} added. Its settings have the redirect URL to register` : `${server.name} added`,
      );
      await navigate({ to: `/workspace/servers/${server.id}` });
    } catch (error) {
      setFailure(toProblem(error));
      setBusy(false);
    }
  }

  return (
    <Section title={testTitle(test)}>
      <div className="max-w-xl space-y-4">
        <TestSteps test={test} />
        {failure && <ProblemNotice problem={failure} />}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Button isBusy={isBusy} kind={isGood ? "primary" : "plain"} onClick={() => void add()}>
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

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
