import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ProviderServer } from "#api/provider-servers.ts";
import { hostOf } from "#server/web/app/data/browser.ts";
import { serversQuery } from "#server/web/app/data/servers.ts";
import { calledItself, connectionCount, serverState } from "./server-words.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useIsAdmin } from "#server/web/app/shell/session.ts";
import { EmptyState, StateBadge } from "#server/web/app/ui/bits.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { type Column, headColumn } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** Provider servers. Admins add them, and everyone connects their own account. */
export function Page() {
  const isAdmin = useIsAdmin();
  const query = useQuery(serversQuery);
  return (
    <PageFrame
      action={
        isAdmin && (
          <Link className={buttonClass("primary")} to="/workspace/servers/new">
            Add server
          </Link>
        )
      }
      lead="MCP servers whose apps you can connect. You decide who sees what kb reads with your account."
      title="Provider servers"
    >
      <TableSection
        columns={COLUMNS}
        empty={
          <EmptyState icon="server" title="No provider servers yet">
            {isAdmin ? (
              <>
                <Link to="/workspace/servers/new">Add a server</Link>: any MCP server that speaks streamable HTTP.
              </>
            ) : (
              "Ask an admin to add one. The Members page lists the admins."
            )}
          </EmptyState>
        }
        keyOf="id"
        label="Provider servers"
        query={query}
        title="In this workspace"
      />
    </PageFrame>
  );
}

const COLUMNS: Column<ProviderServer>[] = [
  headColumn("Name", ({ id, name, url, serverInfo }) => (
    <>
      <Link className="block font-medium wrap-anywhere" params={{ serverId: id }} to="/workspace/servers/$serverId">
        {name}
      </Link>
      <span className="text-muted text-xs wrap-anywhere">{calledItself(serverInfo) ?? hostOf(url)}</span>
    </>
  )),
  {
    title: "Status",
    cell: (server) => <StateBadge {...serverState(server)} />,
  },
  { title: "Last check", cell: ({ health }) => <Time at={health.checkedAt} never="not yet" /> },
  { title: "Connections", cell: connectionCount },
];
