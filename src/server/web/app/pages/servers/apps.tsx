import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { Connection } from "#api/connections.ts";
import type { ProviderServer, ServerApp } from "#api/provider-servers.ts";
import { plural } from "#api/plural.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { appsQuery } from "#server/web/app/data/servers.ts";
import { accessOf, AccessField } from "#server/web/app/pages/connectors/access-field.tsx";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { isAdmin } from "#server/web/app/shell/nav.ts";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Dialog } from "#server/web/app/ui/dialog.tsx";
import { Form, PasswordField, secret, text, TextField } from "#server/web/app/ui/form.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** The apps that can be connected through a server: a plain MCP server is itself the only app. */
export function Apps({ server }: { server: ProviderServer }) {
  const { role } = useSession();
  const [typed, setTyped] = useState("");
  const wanted = useDeferredValue(typed.trim());
  const query = useInfiniteQuery(appsQuery(server.id, wanted));
  const [connecting, setConnecting] = useState<ServerApp>();
  const mayConnect = server.enabled && (server.connectPolicy === "members" || isAdmin(role));
  return (
    <Section
      title="Apps"
      {...(!mayConnect && server.enabled && { description: "Only admins can connect this server." })}
    >
      {(server.counts.apps > MANY || typed !== "") && (
        <input
          aria-label="Find an app"
          autoComplete="off"
          className="bg-surface border-edge placeholder:text-muted/80 mb-3 w-full max-w-xl rounded-md border px-2.5 py-1.5 text-sm max-sm:min-h-10"
          onChange={(event) => setTyped(event.currentTarget.value)}
          placeholder="Find an app"
          type="search"
          value={typed}
        />
      )}
      <LoadedPages query={query} rowsOf={({ apps }) => apps}>
        {(apps) =>
          apps.length === 0 ? (
            <EmptyState icon="server" title={wanted === "" ? "No app can be connected" : "No app has this name"}>
              {wanted === "" ? "An admin decides which apps can be connected." : "Try a part of its name."}
            </EmptyState>
          ) : (
            <ul className="divide-line -my-3 divide-y">
              {apps.map((app) => (
                <AppRow
                  app={app}
                  key={app.slug}
                  needsTools={isAdmin(role) && server.enabled && offersOnlyTools(server)}
                  onConnect={mayConnect ? () => setConnecting(app) : undefined}
                />
              ))}
            </ul>
          )
        }
      </LoadedPages>
      <Dialog
        isOpen={connecting !== undefined}
        onClose={() => setConnecting(undefined)}
        title={`Connect ${connecting?.name ?? ""}`}
      >
        {connecting && <Connect app={connecting} onDone={() => setConnecting(undefined)} server={server} />}
      </Dialog>
    </Section>
  );
}

const MANY = 8;

/** Nothing in it is read until an admin chooses the tools for it. */
function offersOnlyTools({ capabilities }: ProviderServer): boolean {
  return capabilities?.tools === true && !capabilities.resources;
}

interface AppRowProps {
  app: ServerApp;
  needsTools: boolean;
  onConnect: (() => void) | undefined;
}

function AppRow({ app, needsTools, onConnect }: AppRowProps) {
  const { name, description, categories, connected } = app;
  const content = contentOf(app);
  // Without a sign-in, there is no other account.
  const again = app.auth.includes("none") ? "Connect again" : "Connect another account";
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere">{name}</span>
          {connected.mine > 0 && <Badge tone="ok">You are connected</Badge>}
        </p>
        <p className="text-muted wrap-anywhere">
          {[description, categories.join(", "), content].filter((part) => part !== "").join(" · ")}
        </p>
        {needsTools && content === "" && (
          <p className="text-muted">kb can read nothing here yet. Choose its tools below.</p>
        )}
        {connected.shared > 0 && (
          <p className="text-muted">{plural(connected.shared, "connection")} of others that you can see</p>
        )}
      </div>
      {onConnect && (
        <Button
          aria-label={`${connected.mine > 0 ? again : "Connect"}: ${name}`}
          kind={connected.mine > 0 ? "quiet" : "primary"}
          onClick={onConnect}
        >
          {connected.mine > 0 ? again : "Connect"}
        </Button>
      )}
    </li>
  );
}

/** The content that kb can read there; empty while unknown. */
function contentOf({ content: { resources, search, fetch } }: ServerApp): string {
  const ways = [...(resources ? ["Resources"] : []), ...(search ? ["search"] : []), ...(fetch ? ["texts by ID"] : [])];
  return ways.length === 0 ? "" : `kb can read: ${ways.join(", ").toLowerCase()}`;
}

/** Before anything is sent: who connects, with what, and who will see it. */
function Connect({ app, server, onDone }: { app: ServerApp; server: ProviderServer; onDone(): void }) {
  const { user, role } = useSession();
  const client = useQueryClient();
  const signsIn = app.auth.includes("oauth");
  const usesOwn = server.auth.hasSecret && isAdmin(role);

  async function connect(form: FormData): Promise<void> {
    const name = text(form, "name");
    const token = secret(form, "credentials.token").trim();
    const common = { app: app.slug, ...(name !== "" && { name }), access: shareOf(form) };
    const params = { path: { id: server.id } };
    if (signsIn) {
      const body = { ...common, returnTo: `/workspace/servers/${server.id}` };
      const { intent } = await take(api.POST("/api/mcp-servers/{id}/connections/intents", { params, body }));
      window.location.assign(intent.redirectUrl);
      return;
    }
    const body = { ...common, ...(token !== "" && { credentials: { token } }) };
    const { connection } = await take(api.POST("/api/mcp-servers/{id}/connections", { params, body }));
    toast(`${connection.name} is connected`);
    await client.invalidateQueries({ queryKey: ["servers"] });
    onDone();
  }

  return (
    <Form onSubmit={connect} submit={signsIn ? "Continue" : "Connect"}>
      <p className="wrap-anywhere">
        {signsIn
          ? "You sign in at the provider next, and see who was found before anything is kept."
          : app.fields === undefined
            ? "The server asks for no sign-in."
            : "kb signs in with this token, only at this server."}{" "}
        The connection belongs to <strong>{user.email}</strong>; only you can build connectors on it.
      </p>
      {!signsIn && app.fields !== undefined && (
        <PasswordField
          autoComplete="off"
          hint={usesOwn ? "Leave this empty to use the server's own, which an admin stored." : undefined}
          isOptional={usesOwn}
          label="Token"
          maxLength={8192}
          name="credentials.token"
        />
      )}
      <TextField
        autoComplete="off"
        hint="It tells this connection apart from others."
        isOptional
        label="Name"
        maxLength={100}
        name="name"
      />
      <AccessField access={PRIVATE} acl="connector" hint={SHARED_VIEW} />
    </Form>
  );
}

const PRIVATE: Connection["access"] = { visibility: "private", memberIds: [], groupIds: [] };

/** The meaning of sharing. */
export const SHARED_VIEW = "People you choose see what you see in this app, whatever they may see there themselves.";

/** The access field's value, as connections take it. */
export function shareOf(form: FormData): Connection["access"] {
  const { visibility, memberIds, groupIds } = accessOf(form);
  // The field doesn't offer "as in the source" for connections: MCP reports no access.
  return { visibility: visibility === "source" ? "private" : visibility, memberIds, groupIds };
}
