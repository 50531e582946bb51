import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ProviderServer } from "#api/provider-servers.ts";
import { serversQuery } from "#server/web/app/data/servers.ts";
import { calledItself, connectionCount, serverState } from "./server-words.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { isAdmin } from "#server/web/app/shell/nav.ts";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** Provider servers: admins add them, and everyone connects their account. */
export function Page() {
  const { role } = useSession();
  const query = useQuery(serversQuery);
  const add = (
    <Link className={buttonClass("primary")} to="/workspace/servers/new">
      Add server
    </Link>
  );
  return (
    <>
      <PageHeading title="Provider servers" {...(isAdmin(role) && { action: add })}>
        MCP servers whose apps you can connect. You decide who sees what kb reads with your account.
      </PageHeading>
      <Section title="In this workspace">
        <Loaded query={query}>
          {(servers) =>
            servers.length === 0 ? (
              <EmptyState icon="server" title="No provider servers yet">
                {isAdmin(role) ? (
                  <>
                    <Link to="/workspace/servers/new">Add a server</Link>: any MCP server that speaks streamable HTTP.
                  </>
                ) : (
                  "Ask an admin to add one. To find an admin, go to Members."
                )}
              </EmptyState>
            ) : (
              <Table columns={COLUMNS} keyOf={({ id }) => id} label="Provider servers" rows={servers} />
            )
          }
        </Loaded>
      </Section>
    </>
  );
}

const COLUMNS: Column<ProviderServer>[] = [
  {
    title: "Name",
    isHeadless: true,
    cell: ({ id, name, url, serverInfo }) => (
      <>
        <Link className="block font-medium wrap-anywhere" params={{ serverId: id }} to="/workspace/servers/$serverId">
          {name}
        </Link>
        <span className="text-muted text-xs wrap-anywhere">{calledItself(serverInfo) ?? hostOf(url)}</span>
      </>
    ),
  },
  {
    title: "Status",
    cell: (server) => {
      const { title, tone } = serverState(server);
      return <Badge tone={tone}>{title}</Badge>;
    },
  },
  { title: "Last check", cell: ({ health }) => <Time at={health.checkedAt} never="not yet" /> },
  { title: "Connections", cell: connectionCount },
];

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
