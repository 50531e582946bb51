import { useState } from "react";
import type { Account, AccountProviderInfo } from "#api/accounts.ts";
import { api } from "#server/web/app/data/client.ts";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Row } from "#server/web/app/ui/rows.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { hostOf, useDeparture } from "./departure.ts";
import { OwnToken } from "./own-token.tsx";

/** An account of the person, and the actions for it. */
export function AccountRow({ account, provider }: { account: Account; provider: AccountProviderInfo | undefined }) {
  const { id, label, providerId, providerName, baseUrl, confirmedAt, state, stateReason, isLinked, way } = account;
  const { problem, isBusy, run } = useDeparture(providerId, id);
  const [isRenewing, setRenewing] = useState(false);
  const connectors = account.connectors.map(({ name }) => name).join(", ");
  return (
    <Row
      actions={
        <>
          <Button
            aria-label={`Connect again: ${label}`}
            isBusy={isBusy}
            kind="quiet"
            onClick={way === "oauth" ? run : () => setRenewing(!isRenewing)}
            {...(way === "token" && { "aria-expanded": isRenewing })}
          >
            Connect again
          </Button>
          <DialogButton
            aria-label={`Disconnect ${label}`}
            dialog={
              <ConfirmDialog
                act="Disconnect"
                invalidates={["accounts", "session"]}
                onConfirm={() => api.delete("/api/accounts/{id}", { params: { path: { id } } })}
                title={`Disconnect ${label}?`}
                toast={`${label} is disconnected`}
              >
                You stop finding what only this account lets you read
                {way === "oauth"
                  ? ", and its tokens are revoked."
                  : ". To end the token too, delete it at the service."}
                {connectors !== "" && ` These connectors stop: ${connectors}.`}
              </ConfirmDialog>
            }
            kind="quiet"
          >
            Disconnect
          </DialogButton>
        </>
      }
      badges={
        <>
          {state === "active" ? <Badge tone="ok">Connected</Badge> : <Badge tone="warn">Connect again</Badge>}
          {state === "active" && !isLinked && <Badge tone="warn">Not linked</Badge>}
        </>
      }
      below={
        isRenewing &&
        provider && (
          <div className="mt-2">
            <OwnToken account={account} onDone={() => setRenewing(false)} provider={provider} />
          </div>
        )
      }
      className="space-y-1"
      title={label}
    >
      <p className="text-muted wrap-anywhere">
        {providerName}, {hostOf(baseUrl)}
        {way === "token" && ", with a token of yours"}. Confirmed <Time at={confirmedAt} />.
      </p>
      {stateReason && <p className="text-warn wrap-anywhere">{stateReason}</p>}
      {connectors !== "" && <p className="text-muted wrap-anywhere">Connectors: {connectors}</p>}
      <ProblemNotice problem={problem} />
    </Row>
  );
}
