import { useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import type { Token, TokenList } from "#api/tokens.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { tokensQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { revokeColumn, scopesColumn } from "./scopes-column.tsx";
import { NewToken } from "./new-token.tsx";

/** The person's active tokens: create, view, keep beyond the client that created them, revoke. */
export function Tokens({ query }: { query: UseQueryResult<TokenList> }) {
  const [isMaking, setMaking] = useState(false);
  const [keeping, setKeeping] = useState<Token>();
  const [revoking, setRevoking] = useState<Token>();
  const client = useQueryClient();

  async function keep(): Promise<void> {
    if (keeping === undefined) return;
    await take(api.POST("/api/api-tokens/{id}/adopt", { params: { path: { id: keeping.id } } }));
    toast(`Token “${keeping.name}” kept`);
    await client.invalidateQueries({ queryKey: tokensQuery.queryKey });
  }

  async function revoke(): Promise<void> {
    if (revoking === undefined) return;
    await take(api.DELETE("/api/api-tokens/{id}", { params: { path: { id: revoking.id } } }));
    toast(`Token “${revoking.name}” revoked`);
    await client.invalidateQueries({ queryKey: tokensQuery.queryKey });
  }

  return (
    <Section
      action={
        <Button icon="plus" kind="primary" onClick={() => setMaking(true)}>
          Create token
        </Button>
      }
      description="For scripts, and clients without OAuth. A token acts as you in this workspace."
      title="Personal access tokens"
    >
      <Loaded query={query}>
        {({ tokens }) =>
          tokens.length === 0 ? (
            <EmptyState icon="plug" title="No tokens yet">
              Create one per client, so you can revoke each on its own.
            </EmptyState>
          ) : (
            <Table columns={columns(setKeeping, setRevoking)} keyOf={({ id }) => id} label="Tokens" rows={tokens} />
          )
        }
      </Loaded>
      <NewToken isOpen={isMaking} onClose={() => setMaking(false)} />
      <ConfirmDialog
        act="Keep"
        isOpen={keeping !== undefined}
        kind="primary"
        onClose={() => setKeeping(undefined)}
        onConfirm={keep}
        title={`Keep “${keeping?.name ?? ""}”?`}
      >
        <p>
          The token no longer ends with the client that created it. It works until it expires or you revoke it here.
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        act="Revoke"
        isOpen={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        onConfirm={revoke}
        title={`Revoke “${revoking?.name ?? ""}”?`}
      >
        <p>Clients and scripts that use this token lose access immediately. You can't undo this.</p>
      </ConfirmDialog>
    </Section>
  );
}

function columns(onKeep: (token: Token) => void, onRevoke: (token: Token) => void): Column<Token>[] {
  return [
    {
      title: "Name",
      isHeadless: true,
      cell: (token) => <NameCell onKeep={onKeep} token={token} />,
    },
    scopesColumn(),
    { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    revokeColumn(({ name }) => name, onRevoke),
  ];
}

/** The name of a token, and its origin. One that ends with its client can be kept. */
function NameCell({ token, onKeep }: { token: Token; onKeep(token: Token): void }) {
  const { name, prefix, grantId } = token;
  return (
    <>
      <span className="block font-medium wrap-anywhere">{name}</span>
      <span className="text-muted font-mono text-xs">{prefix}…</span>
      {name.startsWith("kb mcp on ") && <span className="text-muted block text-xs">Created by kb login</span>}
      {grantId !== null && (
        <span className="text-muted block text-xs">
          Ends with the client that created it{" "}
          <Button aria-label={`Keep ${name}`} kind="quiet" onClick={() => onKeep(token)}>
            Keep
          </Button>
        </span>
      )}
    </>
  );
}
