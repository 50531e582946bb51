import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { Connection } from "#api/connections.ts";
import type { ProviderServer, ServerApp } from "#api/provider-servers.ts";
import { plural } from "#api/plural.ts";
import { api } from "#server/web/app/data/client.ts";
import { leaveFor } from "#server/web/app/data/leave.ts";
import { appsQuery } from "#server/web/app/data/servers.ts";
import { accessOf, AccessField, PRIVATE } from "#server/web/app/pages/connectors/access-field.tsx";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { useIsAdmin, useSession } from "#server/web/app/shell/session.ts";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { DialogButton } from "#server/web/app/ui/dialog.tsx";
import { FormDialog } from "#server/web/app/ui/form-dialog.tsx";
import { NameField, PasswordField, secret, text } from "#server/web/app/ui/form.tsx";
import { SearchField } from "#server/web/app/ui/search-field.tsx";
import { Row, Rows } from "#server/web/app/ui/rows.tsx";

/** The apps that can be connected through a server. A plain MCP server is itself the only app. */
export function Apps({ server }: { server: ProviderServer }) {
  const isAdmin = useIsAdmin();
  const [typed, setTyped] = useState("");
  const wanted = useDeferredValue(typed.trim());
  const query = useInfiniteQuery(appsQuery(server.id, wanted));
  const mayConnect = server.enabled && (server.connectPolicy === "members" || isAdmin);
  return (
    <Section
      description={!mayConnect && server.enabled ? "Only admins can connect this server." : undefined}
      title="Apps"
    >
      {(server.counts.apps > MANY || typed !== "") && (
        <SearchField
          className="placeholder:text-muted/80 mb-3 max-w-xl max-sm:min-h-10"
          label="Find an app"
          onType={setTyped}
          value={typed}
        />
      )}
      <LoadedPages query={query}>
        {(apps) =>
          apps.length === 0 ? (
            <EmptyState icon="server" title={wanted === "" ? "No app can be connected" : "No app has this name"}>
              {wanted === "" ? "An admin decides which apps can be connected." : "Try a part of its name."}
            </EmptyState>
          ) : (
            <Rows>
              {apps.map((app) => (
                <AppRow app={app} key={app.slug} mayConnect={mayConnect} server={server} />
              ))}
            </Rows>
          )
        }
      </LoadedPages>
    </Section>
  );
}

const MANY = 8;

/** Whether a server offers only tools. kb reads nothing from it until an admin chooses tools. */
function offersOnlyTools({ capabilities }: ProviderServer): boolean {
  return capabilities?.tools === true && !capabilities.resources;
}

interface AppRowProps {
  app: ServerApp;
  server: ProviderServer;
  mayConnect: boolean;
}

function AppRow({ app, server, mayConnect }: AppRowProps) {
  const { name, description, categories, connected } = app;
  const needsTools = useIsAdmin() && server.enabled && offersOnlyTools(server);
  const content = contentOf(app);
  const isMine = connected.mine > 0;
  // Without a sign-in, there can be no second account.
  const again = app.auth.includes("none") ? "Connect again" : "Connect another account";
  const act = isMine ? again : "Connect";
  return (
    <Row
      actions={
        mayConnect && (
          <DialogButton
            aria-label={`${act}: ${name}`}
            dialog={<ConnectDialog app={app} server={server} />}
            kind={isMine ? "quiet" : "primary"}
          >
            {act}
          </DialogButton>
        )
      }
      badges={isMine && <Badge tone="ok">You are connected</Badge>}
      title={name}
    >
      <p className="text-muted wrap-anywhere">
        {[description, categories.join(", "), content].filter((part) => part !== "").join(" · ")}
      </p>
      {needsTools && content === "" && (
        <p className="text-muted">kb can read nothing here yet. Choose its tools below.</p>
      )}
      {connected.shared > 0 && (
        <p className="text-muted">{plural(connected.shared, "connection")} of others that you can see</p>
      )}
    </Row>
  );
}

/** Returns the content that kb can read in an app; empty while that is unknown. */
function contentOf({ content: { resources, search, fetch } }: ServerApp): string {
  const ways = [...(resources ? ["Resources"] : []), ...(search ? ["search"] : []), ...(fetch ? ["texts by ID"] : [])];
  return ways.length === 0 ? "" : `kb can read: ${ways.join(", ").toLowerCase()}`;
}

interface ConnectDialogProps {
  app: ServerApp;
  server: ProviderServer;
}

/** Shown before anything is sent: who connects, with what, and who will see it. */
function ConnectDialog({ app, server }: ConnectDialogProps) {
  const { user } = useSession();
  const usesOwn = useIsAdmin() && server.auth.hasSecret;
  const signsIn = app.auth.includes("oauth");
  const params = { path: { id: server.id } };

  async function connect(form: FormData): Promise<{ connection: Connection }> {
    const name = text(form, "name");
    const token = secret(form, "credentials.token").trim();
    const common = { app: app.slug, ...(name !== "" && { name }), access: shareOf(form) };
    if (signsIn) {
      const body = { ...common, returnTo: `/workspace/servers/${server.id}` };
      const { intent } = await api.post("/api/mcp-servers/{id}/connections/intents", { params, body });
      return await leaveFor(intent.redirectUrl);
    }
    const body = { ...common, ...(token !== "" && { credentials: { token } }) };
    return await api.post("/api/mcp-servers/{id}/connections", { params, body });
  }

  return (
    <FormDialog
      invalidates={["servers"]}
      onSubmit={connect}
      submit={signsIn ? "Continue" : "Connect"}
      title={`Connect ${app.name}`}
      toast={({ connection }) => `${connection.name} is connected`}
    >
      <p className="wrap-anywhere">
        {signsIn
          ? "Next, you sign in at the provider. You then see which account was found, before anything is stored."
          : app.fields === undefined
            ? "The server asks for no sign-in."
            : "kb signs in with this token, only at this server."}{" "}
        The connection belongs to <strong>{user.email}</strong>; only you can build connectors on it.
      </p>
      {!signsIn && app.fields !== undefined && (
        <PasswordField
          autoComplete="off"
          hint={usesOwn ? "Leave this empty to use the server's own token, which an admin stored." : undefined}
          isOptional={usesOwn}
          label="Token"
          maxLength={8192}
          name="credentials.token"
        />
      )}
      <NameField hint="A name that distinguishes this connection from others." isOptional maxLength={100} />
      <AccessField access={PRIVATE} acl="connector" hint={SHARED_VIEW} />
    </FormDialog>
  );
}

/** The sentence that explains sharing. */
export const SHARED_VIEW =
  "People you choose see what you see in this app, even if they can't see it in the app themselves.";

/** Returns the access field's value in the form that connections expect. */
export function shareOf(form: FormData): Connection["access"] {
  const { visibility, memberIds, groupIds } = accessOf(form);
  // The field doesn't offer "as in the source" for connections, because MCP reports no access.
  return { visibility: visibility === "source" ? "private" : visibility, memberIds, groupIds };
}
