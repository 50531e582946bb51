import { useState, type ReactNode } from "react";
import type { ConsentRequest } from "#api/oauth.ts";
import type { Session } from "#api/session.ts";
import { SCOPE_WORDS } from "./scope-words.ts";
import { useAct } from "#server/web/app/ui/act.ts";
import { Button } from "#server/web/app/ui/button.tsx";
import { Fact, Facts } from "#server/web/app/ui/facts.tsx";
import { PasswordField, secret, SelectField } from "#server/web/app/ui/form.tsx";
import { Icon } from "#server/web/app/ui/icon.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { EntryCard } from "./entry.tsx";
import { SignedInAs } from "./signed-in-as.tsx";

/** The decision in the form that the routes expect. */
export interface Decision {
  csrf: string;
  decision: "allow" | "deny";
  workspaceId?: string;
  password?: string;
}

/**
 * Asks whether a client may have access. Shows who asks, where the response goes, what the client may do, as whom and
 * in which workspace. Nothing is decided unless a button is pressed. Source: S27, S33.
 */
export function ConsentCard({
  request,
  user,
  warning,
  onDecide,
}: {
  request: ConsentRequest;
  user: Session["user"];
  warning?: ReactNode;
  onDecide(decision: Decision): Promise<void>;
}) {
  const { client, needsPassword, workspaces, currentWorkspaceId } = request;
  const [workspaceId, setWorkspaceId] = useState(currentWorkspaceId);
  const workspaceName = workspaces.find(({ id }) => id === workspaceId)?.name ?? "your workspace";
  const { run, input, problem } = useAct(onDecide);

  function decide(form: HTMLFormElement | null, decision: Decision["decision"]): void {
    if (form === null) return;
    if (decision === "deny") return run({ csrf: request.csrf, decision });
    if (!form.reportValidity()) return;
    const password = secret(new FormData(form), "password");
    run({ csrf: request.csrf, decision, workspaceId, ...(password !== "" && { password }) });
  }

  return (
    <EntryCard
      below={<SignedInAs user={user} />}
      title={`Allow ${client.isOurs ? "the kb command line" : `“${client.name}”`} to access ${workspaceName}?`}
    >
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault();
          // Enter in a field must not decide. Only a pressed button does.
        }}
      >
        <About request={request} user={user} />
        {warning}
        <section>
          <h2 className="mb-1.5 font-medium">It can</h2>
          <ul className="space-y-2">
            {request.scopes.map((scope) => (
              <li className="flex gap-2" key={scope}>
                <span className={scope === "kb:admin" ? "text-warn pt-0.5" : "text-ok pt-0.5"}>
                  <Icon name={scope === "kb:admin" ? "warning" : "check"} />
                </span>
                <span>
                  <span className="font-medium">{SCOPE_WORDS[scope].title}.</span>{" "}
                  <span className="text-muted">{SCOPE_WORDS[scope].meaning}</span>
                </span>
              </li>
            ))}
          </ul>
        </section>
        <SelectField
          choices={workspaces.map(({ id, name }) => [id, name])}
          hint="It can't see your other workspaces."
          label="Workspace"
          name="workspaceId"
          onChoose={setWorkspaceId}
          value={workspaceId}
        />
        {needsPassword && (
          <PasswordField
            autoComplete="current-password"
            hint="Enter your password to let it manage the workspace."
            label="Password"
            name="password"
          />
        )}
        <ProblemNotice problem={problem} />
        <div className="grid grid-cols-2 gap-3">
          <Button isBusy={input?.decision === "deny"} onClick={(event) => decide(event.currentTarget.form, "deny")}>
            Deny
          </Button>
          <Button
            isBusy={input?.decision === "allow"}
            kind="primary"
            onClick={(event) => decide(event.currentTarget.form, "allow")}
          >
            Allow
          </Button>
        </div>
        <p className="text-muted text-xs">You can revoke access at any time in Settings, under “MCP access”.</p>
      </form>
    </EntryCard>
  );
}

function About({ request: { client, askedFrom }, user }: { request: ConsentRequest; user: Session["user"] }) {
  return (
    <div className="space-y-3">
      <Facts look="ends">
        <Fact label="Account">
          {user.name} <span className="text-muted font-normal">{user.email}</span>
        </Fact>
        {!client.isOurs && <Fact label="App name">“{client.name}”</Fact>}
        <Fact label={client.isLocal || client.host !== null ? "Redirects to" : "Signs in"}>
          {client.isLocal ? "an app on this computer" : (client.host ?? "the device that shows the code")}
        </Fact>
        <Fact label="Website">{client.uri}</Fact>
        {client.documentReadAt && (
          <Fact label="Description">
            read <Time at={client.documentReadAt} />
          </Fact>
        )}
        <Fact label="Requested from">{askedFrom}</Fact>
      </Facts>
      {!client.isOurs && (
        <Notice tone="warn">
          Any app can use this name. Only continue if you started this yourself
          {client.host === null ? "" : client.isLocal ? ", on this computer" : ` at ${client.host}`}.
        </Notice>
      )}
    </div>
  );
}
