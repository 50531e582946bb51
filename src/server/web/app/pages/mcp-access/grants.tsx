import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Grant } from "#api/oauth.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { grantsQuery } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { revokeColumn, scopesColumn } from "./scopes-column.tsx";

/** The OAuth clients that the person authorized, and how to revoke their access. */
export function Grants() {
  const query = useInfiniteQuery(grantsQuery);
  const [revoking, setRevoking] = useState<Grant>();
  const client = useQueryClient();

  async function revoke(): Promise<void> {
    if (revoking === undefined) return;
    await take(api.DELETE("/api/grants/{id}", { params: { path: { id: revoking.id } } }));
    toast(`Access revoked for “${revoking.clientName}”`);
    await client.invalidateQueries({ queryKey: grantsQuery.queryKey });
  }

  return (
    <Section
      description="Apps you allowed to access this workspace. Apps choose their own names, so check the address."
      title="Connected clients"
    >
      <LoadedPages query={query} rowsOf={({ grants }) => grants}>
        {(grants) =>
          grants.length === 0 ? (
            <EmptyState icon="plug" title="No connected clients">
              Give a client the MCP URL. It opens a page where you allow access.
            </EmptyState>
          ) : (
            <Table columns={columns(setRevoking)} keyOf={({ id }) => id} label="Connected clients" rows={grants} />
          )
        }
      </LoadedPages>
      <ConfirmDialog
        act="Revoke"
        isOpen={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        onConfirm={revoke}
        title={`Revoke access for “${revoking?.clientName ?? ""}”?`}
      >
        <p>Its tokens stop working immediately. It can ask for access again.</p>
      </ConfirmDialog>
    </Section>
  );
}

function columns(onRevoke: (grant: Grant) => void): Column<Grant>[] {
  return [
    {
      title: "Client",
      isHeadless: true,
      cell: ({ clientName, place, documentReadAt }) => (
        <>
          <span className="block font-medium wrap-anywhere">“{clientName}”</span>
          <span className="text-muted text-xs wrap-anywhere">{place}</span>
          {documentReadAt !== null && (
            <span className="text-muted block text-xs">
              Description read <Time at={documentReadAt} />
            </span>
          )}
        </>
      ),
    },
    scopesColumn(),
    { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { title: "Connected", cell: ({ createdAt }) => <Time at={createdAt} /> },
    revokeColumn(({ clientName }) => clientName, onRevoke),
  ];
}
