import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Connection } from "#api/connections.ts";
import type { ProviderServer, ServerTest } from "#api/provider-servers.ts";
import { VISIBILITY_WORDS } from "#server/web/app/data/connector-words.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { connectionsQuery } from "#server/web/app/data/servers.ts";
import { AccessField } from "#server/web/app/pages/connectors/access-field.tsx";
import { CONNECTION_WORDS, reasonWords } from "./server-words.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { isAdmin } from "#server/web/app/shell/nav.ts";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button, buttonClass } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog, Dialog } from "#server/web/app/ui/dialog.tsx";
import { Form } from "#server/web/app/ui/form.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { Agreement } from "./agreement.tsx";
import { SHARED_VIEW, shareOf } from "./apps.tsx";
import { TestSteps } from "./test-steps.tsx";

type Act = { type: "share" | "end"; connection: Connection };

/** The person's connections and those shared with them; for admins all. */
export function Connections({ server }: { server: ProviderServer }) {
  const { role } = useSession();
  const query = useInfiniteQuery(connectionsQuery(server.id));
  const [act, setAct] = useState<Act>();
  const close = () => setAct(undefined);
  return (
    <Section
      description={
        isAdmin(role)
          ? "Your connections and, because you are an admin, those of others. Only their owners can use them."
          : undefined
      }
      title="Connections"
    >
      <LoadedPages query={query} rowsOf={({ connections }) => connections}>
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
                <ul className="divide-line -my-3 divide-y">
                  {live.map((connection) => (
                    <Row
                      connection={connection}
                      key={connection.id}
                      onAct={(type) => setAct({ type, connection })}
                      signsIn={server.auth.kind === "oauth"}
                    />
                  ))}
                </ul>
              )}
              {ended.length > 0 && <Ended connections={ended} />}
            </>
          );
        }}
      </LoadedPages>
      <Dialog isOpen={act?.type === "share"} onClose={close} title={`Who can see ${act?.connection.name ?? ""}`}>
        {act && <Share connection={act.connection} onDone={close} />}
      </Dialog>
      <EndDialog connection={act?.connection} isOpen={act?.type === "end"} onClose={close} />
    </Section>
  );
}

const ENDED: ReadonlySet<Connection["status"]> = new Set(["revoked", "expired", "failed"]);

function mineFirst(a: Connection, b: Connection): number {
  return Number(b.isMine) - Number(a.isMine);
}

interface RowProps {
  connection: Connection;
  /** With OAuth. */
  signsIn: boolean;
  onAct(type: Act["type"]): void;
}

function Row({ connection, signsIn, onAct }: RowProps) {
  const { role } = useSession();
  const { id, serverId, name, account, isMine, status, access, lastUsedAt } = connection;
  const { title, tone } = CONNECTION_WORDS[status];
  const reason = reasonWords(connection, signsIn);
  const [test, setTest] = useState<ServerTest>();
  const { busy, failure, run } = useActs();
  const params = { path: { id: serverId } };

  const tryIt = () =>
    run("test", async () => {
      setTest(await take(api.POST("/api/mcp-servers/{id}/connection-tests", { params, body: { connectionId: id } })));
    });
  const signIn = () =>
    run("sign-in", async () => {
      const body = { app: connection.app, reconnect: id, returnTo: `/workspace/servers/${serverId}` };
      const { intent } = await take(api.POST("/api/mcp-servers/{id}/connections/intents", { params, body }));
      window.location.assign(intent.redirectUrl);
    });
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56 space-y-1">
          <p className="flex flex-wrap items-center gap-2">
            <span className="font-medium wrap-anywhere">{name}</span>
            <Badge tone={tone}>{title}</Badge>
          </p>
          <p className="text-muted wrap-anywhere">
            {whoseOf(connection)}
            {account !== null && `, as ${account.label}`}. {seenBy(connection)}{" "}
            {status === "pending" && connection.expiresAt !== null && (
              <>
                The time to sign in ends <Time at={connection.expiresAt} />.
              </>
            )}
            {lastUsedAt !== null && (
              <>
                Last used <Time at={lastUsedAt} />.
              </>
            )}
          </p>
          {reason !== undefined && <p className="text-warn wrap-anywhere">{reason}</p>}
        </div>
        <div className="flex flex-wrap gap-1">
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
          {isMine && (status === "active" || status === "needs_reauth") && (
            <Button aria-label={`Test ${name}`} isBusy={busy === "test"} kind="quiet" onClick={tryIt}>
              Test
            </Button>
          )}
          {connection.elicitation !== null && (
            <Button isBusy={busy === "sign-in"} onClick={signIn}>
              Open {connection.elicitation.host}
            </Button>
          )}
          {isMine &&
            signsIn &&
            connection.elicitation === null &&
            (status === "active" || status === "needs_reauth") && (
              <Button aria-label={`Sign in again: ${name}`} isBusy={busy === "sign-in"} kind="quiet" onClick={signIn}>
                Sign in again
              </Button>
            )}
          {(isMine || (isAdmin(role) && access.visibility !== "private")) && status !== "pending" && (
            <Button aria-label={`Who can see it: ${name}`} kind="quiet" onClick={() => onAct("share")}>
              Who can see it
            </Button>
          )}
          {(isMine || isAdmin(role)) && (
            <Button aria-label={`Disconnect ${name}`} kind="quiet" onClick={() => onAct("end")}>
              Disconnect
            </Button>
          )}
        </div>
      </div>
      {connection.agreement !== null && <Agreement agreement={connection.agreement} connection={connection} />}
      {failure && <ProblemNotice className="mt-2" problem={failure} />}
      {test && (
        <div aria-live="polite" className="mt-3 max-w-xl">
          <TestSteps test={test} />
        </div>
      )}
    </li>
  );
}

/** One action at a time; a failure is shown next to the button. */
function useActs() {
  const [busy, setBusy] = useState<string>();
  const [failure, setFailure] = useState<Problem>();
  async function go(name: string, work: () => Promise<void>): Promise<void> {
    setBusy(name);
    setFailure(undefined);
    try {
      await work();
    } catch (error) {
      setFailure(toProblem(error));
    } finally {
      setBusy(undefined);
    }
  }
  return { busy, failure, run: (name: string, work: () => Promise<void>) => void go(name, work) };
}

/** Who sees the content read through it. */
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

function Share({ connection, onDone }: { connection: Connection; onDone(): void }) {
  const { id, serverId, access, isMine, owner } = connection;
  const client = useQueryClient();

  async function save(form: FormData): Promise<void> {
    const params = { path: { id: serverId, connectionId: id } };
    await take(api.PATCH("/api/mcp-servers/{id}/connections/{connectionId}/access", { params, body: shareOf(form) }));
    toast("Saved");
    await client.invalidateQueries({ queryKey: ["servers"] });
    onDone();
  }

  return (
    <Form onSubmit={save} submit="Save">
      {isMine && <Notice tone="warn">{SHARED_VIEW} It counts at once, and you can take it back at any time.</Notice>}
      <AccessField
        access={access}
        acl="connector"
        hint={
          isMine
            ? "What kb reads with this connection."
            : `You can let fewer people see it. Only ${owner.name || "its owner"} can let more.`
        }
      />
    </Form>
  );
}

interface EndProps {
  connection: Connection | undefined;
  isOpen: boolean;
  onClose(): void;
}

function EndDialog({ connection, isOpen, onClose }: EndProps) {
  const client = useQueryClient();
  async function end(): Promise<void> {
    if (connection === undefined) return;
    const params = { path: { id: connection.serverId, connectionId: connection.id } };
    await take(api.DELETE("/api/mcp-servers/{id}/connections/{connectionId}", { params }));
    toast(`${connection.name} is disconnected`);
    await client.invalidateQueries({ queryKey: ["servers"] });
  }
  return (
    <ConfirmDialog
      act="Disconnect"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={end}
      title={`Disconnect ${connection?.name ?? ""}?`}
    >
      <p>
        kb forgets the sign-in and revokes it at the provider. Connectors that read with it end, and what they read
        disappears from search at once. The provider keeps everything.
      </p>
    </ConfirmDialog>
  );
}
