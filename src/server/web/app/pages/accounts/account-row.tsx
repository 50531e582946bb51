import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Account, AccountProviderInfo } from "#api/accounts.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { accountsQuery, sessionQuery } from "#server/web/app/data/queries.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { hostOf, useDeparture } from "./departure.ts";
import { OwnToken } from "./own-token.tsx";

/** An account of the person, and what they can do with it. */
export function AccountRow({ account, provider }: { account: Account; provider: AccountProviderInfo | undefined }) {
  const client = useQueryClient();
  const { failure, isBusy, go } = useDeparture();
  const [isEnding, setEnding] = useState(false);
  const [isRenewing, setRenewing] = useState(false);
  const { id, label, providerId, providerName, baseUrl, state, stateReason, isLinked, connectors, way } = account;

  async function disconnect(): Promise<void> {
    await take(api.DELETE("/api/accounts/{id}", { params: { path: { id } } }));
    toast(`${label} is disconnected`);
    await client.invalidateQueries({ queryKey: accountsQuery.queryKey });
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  }

  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-56 space-y-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere">{label}</span>
          {state === "active" ? <Badge tone="ok">Connected</Badge> : <Badge tone="warn">Connect again</Badge>}
          {state === "active" && !isLinked && <Badge tone="warn">Not linked</Badge>}
        </p>
        <p className="text-muted wrap-anywhere">
          {providerName}, {hostOf(baseUrl)}
          {way === "token" && ", with a token of yours"}. Confirmed <Time at={account.confirmedAt} />.
        </p>
        {stateReason !== null && <p className="text-warn wrap-anywhere">{stateReason}</p>}
        {connectors.length > 0 && (
          <p className="text-muted wrap-anywhere">Connectors: {connectors.map(({ name }) => name).join(", ")}</p>
        )}
        {failure && <ProblemNotice problem={failure} />}
      </div>
      <div className="flex flex-wrap gap-1">
        <Button
          aria-label={`Connect again: ${label}`}
          isBusy={isBusy}
          kind="quiet"
          onClick={() => (way === "oauth" ? go(providerId, id) : setRenewing(!isRenewing))}
          {...(way === "token" && { "aria-expanded": isRenewing })}
        >
          Connect again
        </Button>
        <Button aria-label={`Disconnect ${label}`} kind="quiet" onClick={() => setEnding(true)}>
          Disconnect
        </Button>
      </div>
      {isRenewing && provider && (
        <div className="basis-full">
          <OwnToken account={account} onDone={() => setRenewing(false)} provider={provider} />
        </div>
      )}
      <ConfirmDialog
        act="Disconnect"
        isOpen={isEnding}
        onClose={() => setEnding(false)}
        onConfirm={disconnect}
        title={`Disconnect ${label}?`}
      >
        <p>
          You stop finding what only this account lets you read
          {way === "oauth" ? ", and its tokens are revoked." : ". To end the token too, delete it at the service."}
          {connectors.length > 0 && ` These connectors stop: ${connectors.map(({ name }) => name).join(", ")}.`}
        </p>
      </ConfirmDialog>
    </li>
  );
}
