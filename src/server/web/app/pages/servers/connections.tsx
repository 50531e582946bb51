import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Connection } from "#api/connections.ts";
import type { ProviderServer, ServerTest } from "#api/provider-servers.ts";
import { api } from "#server/web/app/data/client.ts";
import { VISIBILITY_WORDS } from "#server/web/app/data/connector-words.ts";
import { connectionsQuery } from "#server/web/app/data/servers.ts";
import { AccessField } from "#server/web/app/pages/connectors/access-field.tsx";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { useIsAdmin } from "#server/web/app/shell/session.ts";
import { useAct } from "#server/web/app/ui/act.ts";
import { EmptyState, Section, StateBadge } from "#server/web/app/ui/bits.tsx";
import { Button, buttonClass } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { FormDialog } from "#server/web/app/ui/form-dialog.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Row, Rows } from "#server/web/app/ui/rows.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { Agreement } from "./agreement.tsx";
import { SHARED_VIEW, shareOf } from "./apps.tsx";
import { CONNECTION_WORDS, reasonWords } from "./server-words.ts";
import { TestSteps } from "./test-steps.tsx";

/** The person's connections and those shared with them; for admins all connections. */
export function Connections({ server }: { server: ProviderServer }) {
  const isAdmin = useIsAdmin();
  const query = useInfiniteQuery(connectionsQuery(server.id));
  return (
    <Section
      description={
        isAdmin
          ? "Your connections and, because you are an admin, those of others. Only their owners can use them."
          : undefined
      }
      title="Connections"
    >
      <LoadedPages query={query}>
        {(connections) => {
          const live = connections.filter(({ status }) => !ENDED.has(status)).sort(mineFirst);
          const ended = connections.filter(({ status }) => ENDED.has(status));
          return (
            <>
              {live.length === 0 ? (
                <EmptyState icon="link" title="No connections yet">
                  Connect an app above. Only you see what kb reads with it, unless you share it.
                </EmptyState>
              ) : (
                <Rows>
                  {live.map((connection) => (
                    <ConnectionRow connection={connection} key={connection.id} signsIn={server.auth.kind === "oauth"} />
                  ))}
                </Rows>
              )}
              {ended.length > 0 && <Ended connections={ended} />}
            </>
          );
        }}
      </LoadedPages>
    </Section>
  );
}

const ENDED: ReadonlySet<Connection["status"]> = new Set(["revoked", "expired", "failed"]);

function mineFirst(a: Connection, b: Connection): number {
  return Number(b.isMine) - Number(a.isMine);
}

interface ConnectionRowProps {
  connection: Connection;
  /** Whether connections sign in with OAuth. */
  signsIn: boolean;
}

function ConnectionRow({ connection, signsIn }: ConnectionRowProps) {
  const isAdmin = useIsAdmin();
  const { id, serverId, name, account, isMine, status, access, lastUsedAt, expiresAt, elicitation } = connection;
  const reason = reasonWords(connection, signsIn);
  const [result, setResult] = useState<ServerTest>();
  const params = { path: { id: serverId } };
  const test = useAct(async () => {
    setResult(await api.post("/api/mcp-servers/{id}/connection-tests", { params, body: { connectionId: id } }));
  });
  const signIn = useAct(async () => {
    const body = { app: connection.app, reconnect: id, returnTo: `/workspace/servers/${serverId}` };
    const { intent } = await api.post("/api/mcp-servers/{id}/connections/intents", { params, body });
    window.location.assign(intent.redirectUrl);
  });
  const isUsable = isMine && (status === "active" || status === "needs_reauth");
  return (
    <Row
      actions={
        <>
          {isMine && status === "active" && (
            <Link
              aria-label={`Add connector: ${name}`}
              className={buttonClass("quiet")}
              search={{ connection: id }}
              to="/workspace/connectors/new/mcp"
            >
              Add connector
            </Link>
          )}
          {isUsable && (
            <Button aria-label={`Test ${name}`} isBusy={test.isBusy} kind="quiet" onClick={test.run}>
              Test
            </Button>
          )}
          {elicitation && (
            <Button isBusy={signIn.isBusy} onClick={signIn.run}>
              Open {elicitation.host}
            </Button>
          )}
          {isUsable && signsIn && elicitation === null && (
            <Button aria-label={`Sign in again: ${name}`} isBusy={signIn.isBusy} kind="quiet" onClick={signIn.run}>
              Sign in again
            </Button>
          )}
          {(isMine || (isAdmin && access.visibility !== "private")) && status !== "pending" && (
            <DialogButton
              aria-label={`Who can see it: ${name}`}
              dialog={<ShareDialog connection={connection} />}
              kind="quiet"
            >
              Who can see it
            </DialogButton>
          )}
          {(isMine || isAdmin) && <Disconnect connection={connection} />}
        </>
      }
      badges={<StateBadge {...CONNECTION_WORDS[status]} />}
      below={
        <>
          {connection.agreement && <Agreement agreement={connection.agreement} connection={connection} />}
          <ProblemNotice className="mt-2" problem={signIn.problem ?? test.problem} />
          {result && (
            <div aria-live="polite" className="mt-3 max-w-xl">
              <TestSteps test={result} />
            </div>
          )}
        </>
      }
      className="space-y-1"
      title={name}
    >
      <p className="text-muted wrap-anywhere">
        {whoseOf(connection)}
        {account && `, as ${account.label}`}. {seenBy(connection)}{" "}
        {status === "pending" && expiresAt !== null && (
          <>
            The time to sign in ends <Time at={expiresAt} />.
          </>
        )}
        {lastUsedAt && (
          <>
            Last used <Time at={lastUsedAt} />.
          </>
        )}
      </p>
      {reason && <p className="text-warn wrap-anywhere">{reason}</p>}
    </Row>
  );
}

/** Returns who sees the content that is read through a connection. */
function seenBy({ access: { visibility }, isMine, status }: Connection): string {
  if (status === "needs_reauth") return "";
  if (visibility === "private") return isMine ? "Only you see what it reads." : "Only its owner sees what it reads.";
  return `${VISIBILITY_WORDS[visibility]} see${visibility === "workspace" ? "s" : ""} what it reads.`;
}

function whoseOf({ isMine, owner }: Connection): string {
  return isMine ? "Yours" : `Of ${owner.name || "a former member"}`;
}

function Ended({ connections }: { connections: readonly Connection[] }) {
  return (
    <details className="border-line mt-3 border-t pt-3">
      <summary className="text-accent w-fit cursor-pointer">Ended ({connections.length})</summary>
      <ul className="text-muted mt-2 space-y-1">
        {connections.map((connection) => (
          <li className="wrap-anywhere" key={connection.id}>
            {connection.name}, {whoseOf(connection).toLowerCase()}:{" "}
            {CONNECTION_WORDS[connection.status].title.toLowerCase()}. {reasonWords(connection)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function ShareDialog({ connection }: { connection: Connection }) {
  const { id, serverId, name, access, isMine, owner } = connection;

  function save(form: FormData): Promise<unknown> {
    const params = { path: { id: serverId, connectionId: id } };
    return api.patch("/api/mcp-servers/{id}/connections/{connectionId}/access", { params, body: shareOf(form) });
  }

  return (
    <FormDialog invalidates={["servers"]} onSubmit={save} submit="Save" title={`Who can see ${name}`} toast="Saved">
      {isMine && <Notice tone="warn">{SHARED_VIEW} It takes effect at once, and you can undo it at any time.</Notice>}
      <AccessField
        access={access}
        acl="connector"
        hint={
          isMine
            ? "What kb reads with this connection."
            : `You can let fewer people see it. Only ${owner.name || "its owner"} can let more people see it.`
        }
      />
    </FormDialog>
  );
}

function Disconnect({ connection: { id, serverId, name } }: { connection: Connection }) {
  const params = { path: { id: serverId, connectionId: id } };
  return (
    <DialogButton
      aria-label={`Disconnect ${name}`}
      dialog={
        <ConfirmDialog
          act="Disconnect"
          invalidates={["servers"]}
          onConfirm={() => api.delete("/api/mcp-servers/{id}/connections/{connectionId}", { params })}
          title={`Disconnect ${name}?`}
          toast={`${name} is disconnected`}
        >
          kb forgets the sign-in and revokes it at the provider. Connectors that use this connection stop, and what they
          read disappears from search at once. The provider keeps everything.
        </ConfirmDialog>
      }
      kind="quiet"
    >
      Disconnect
    </DialogButton>
  );
}
