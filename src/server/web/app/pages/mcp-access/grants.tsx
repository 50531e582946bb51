import { useInfiniteQuery } from "@tanstack/react-query";
import type { Grant } from "#api/oauth.ts";
import { api } from "#server/web/app/data/client.ts";
import { grantsQuery } from "#server/web/app/data/queries.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { EmptyState } from "#server/web/app/ui/bits.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { actsColumn, type Column, headColumn, timeColumn, IN_ROW } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { scopesColumn } from "./scopes-column.tsx";

/** The OAuth clients that the person authorized, with buttons to revoke their access. */
export function Grants() {
  return (
    <TableSection
      columns={COLUMNS}
      description="Apps you allowed to access this workspace. Apps choose their own names, so check the address."
      empty={
        <EmptyState icon="plug" title="No connected clients">
          Give a client the MCP URL. It opens a page where you allow access.
        </EmptyState>
      }
      keyOf="id"
      label="Connected clients"
      query={useInfiniteQuery(grantsQuery)}
      title="Connected clients"
    />
  );
}

const COLUMNS: Column<Grant>[] = [
  headColumn("Client", ({ clientName, place, documentReadAt }) => (
    <>
      <span className="block font-medium wrap-anywhere">“{clientName}”</span>
      <span className="text-muted text-xs wrap-anywhere">{place}</span>
      {documentReadAt && (
        <span className="text-muted block text-xs">
          Description read <Time at={documentReadAt} />
        </span>
      )}
    </>
  )),
  scopesColumn(),
  timeColumn("Last used", "lastUsedAt"),
  timeColumn("Connected", "createdAt"),
  actsColumn(({ id, clientName }) => (
    <DialogButton
      {...IN_ROW}
      aria-label={`Revoke ${clientName}`}
      dialog={
        <ConfirmDialog
          act="Revoke"
          invalidates={["grants"]}
          onConfirm={() => api.delete("/api/grants/{id}", { params: { path: { id } } })}
          title={`Revoke access for “${clientName}”?`}
          toast={`Access revoked for “${clientName}”`}
        >
          Its tokens stop working immediately. It can ask for access again.
        </ConfirmDialog>
      }
    >
      Revoke
    </DialogButton>
  )),
];
