import { useQuery } from "@tanstack/react-query";
import type { Token } from "#api/tokens.ts";
import { api } from "#server/web/app/data/client.ts";
import { tokensQuery } from "#server/web/app/data/queries.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { EmptyState } from "#server/web/app/ui/bits.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { actsColumn, type Column, headColumn, timeColumn, IN_ROW } from "#server/web/app/ui/table.tsx";
import { NewToken } from "./new-token.tsx";
import { scopesColumn } from "./scopes-column.tsx";

/** The person's active tokens: create, view, revoke, and keep one beyond the end of the client that created it. */
export function Tokens() {
  return (
    <TableSection
      action={
        <DialogButton dialog={<NewToken />} icon="plus" kind="primary">
          Create token
        </DialogButton>
      }
      columns={COLUMNS}
      description="For scripts, and clients without OAuth. A token acts as you in this workspace."
      empty={
        <EmptyState icon="plug" title="No tokens yet">
          Create one per client, so you can revoke each on its own.
        </EmptyState>
      }
      keyOf="id"
      label="Tokens"
      query={useQuery({ ...tokensQuery, select: ({ tokens }) => tokens })}
      title="Personal access tokens"
    />
  );
}

const COLUMNS: Column<Token>[] = [
  headColumn("Name", (token) => <NameCell token={token} />),
  scopesColumn(),
  timeColumn("Last used", "lastUsedAt"),
  timeColumn("Created", "createdAt"),
  timeColumn("Expires", "expiresAt"),
  actsColumn(({ id, name }) => (
    <DialogButton
      {...IN_ROW}
      aria-label={`Revoke ${name}`}
      dialog={
        <ConfirmDialog
          act="Revoke"
          invalidates={["tokens"]}
          onConfirm={() => api.delete("/api/api-tokens/{id}", { params: { path: { id } } })}
          title={`Revoke “${name}”?`}
          toast={`Token “${name}” revoked`}
        >
          Clients and scripts that use this token lose access immediately. You can't undo this.
        </ConfirmDialog>
      }
    >
      Revoke
    </DialogButton>
  )),
];

/** The name of a token, and its origin. A token that ends with its client can be kept. */
function NameCell({ token: { id, name, prefix, grantId } }: { token: Token }) {
  return (
    <>
      <span className="block font-medium wrap-anywhere">{name}</span>
      <span className="text-muted font-mono text-xs">{prefix}…</span>
      {name.startsWith("kb mcp on ") && <span className="text-muted block text-xs">Created by kb login</span>}
      {grantId && (
        <span className="text-muted block text-xs">
          Ends with the client that created it{" "}
          <DialogButton
            aria-label={`Keep ${name}`}
            dialog={
              <ConfirmDialog
                act="Keep"
                invalidates={["tokens"]}
                kind="primary"
                onConfirm={() => api.post("/api/api-tokens/{id}/adopt", { params: { path: { id } } })}
                title={`Keep “${name}”?`}
                toast={`Token “${name}” kept`}
              >
                The token no longer ends with the client that created it. It works until it expires or you revoke it
                here.
              </ConfirmDialog>
            }
            kind="quiet"
          >
            Keep
          </DialogButton>
        </span>
      )}
    </>
  );
}
