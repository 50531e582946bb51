import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { DataOf } from "#api/client.ts";
import type { Connector } from "#api/connector-records.ts";
import { api } from "#server/web/app/data/client.ts";
import { useSource, webhookQuery } from "#server/web/app/data/connectors.ts";
import { useRefetch } from "#server/web/app/data/refetch.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { ConfirmDialog, Dialog } from "#server/web/app/ui/dialog.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** The URL for the app's webhooks, and the secret that signs them. Shows nothing if the app has no webhooks. */
export function Webhook({ connector: { id: connectorId, providerId } }: { connector: Connector }) {
  const source = useSource(providerId);
  const { data } = useQuery({
    ...webhookQuery(connectorId),
    enabled: source?.capabilities.includes("webhook") === true,
  });
  return data && <Notifications connectorId={connectorId} webhook={data} />;
}

interface NotificationsProps {
  connectorId: string;
  webhook: DataOf<"get", "/api/connectors/{id}/webhook">["webhook"];
}

function Notifications({ connectorId, webhook }: NotificationsProps) {
  const refetch = useRefetch();
  const [isAsking, setAsking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { url, secretCreatedAt, subscription, secretFrom, offered } = webhook;
  const isOffered = secretFrom === "app";
  const isWaiting = offered !== null && offered.secret === null;
  if (subscription) {
    return (
      <Section
        description={
          subscription.problem === null
            ? "The app tells kb of changes, so they appear in seconds. kb renews the subscription itself."
            : `kb could not subscribe to the app’s notifications, and tries again. Until then, changes appear on schedule. ${subscription.problem.message}`
        }
        title="Change notifications"
      >
        <CopyField label="Address" showsLabel value={url} />
      </Section>
    );
  }

  async function create(): Promise<void> {
    const made = await api.post("/api/connectors/{id}/webhook", { params: { path: { id: connectorId } } });
    if (made.secret !== null) setSecret(made.secret);
    await refetch(["connectors"]);
  }

  const done = () => setSecret(undefined);
  return (
    <Section
      action={
        <Button onClick={() => (secretCreatedAt === null ? void create() : setAsking(true))}>
          {secretCreatedAt !== null
            ? "Replace secret"
            : isWaiting
              ? "Start again"
              : isOffered
                ? "Receive secret"
                : "Create secret"}
        </Button>
      }
      description={
        secretCreatedAt !== null
          ? "Changes that the app reports to this address appear in seconds, all others on schedule."
          : isOffered
            ? "Choose “Receive secret”, then add this address as a webhook in the app. The app sends its secret here, and changes appear in seconds. Without it, they appear on schedule."
            : "Add this address as a webhook in the app, and changes appear in seconds. Without it, they appear on schedule."
      }
      title="Change notifications"
    >
      <CopyField label="Address" showsLabel value={url} />
      {isWaiting && (
        <Notice className="mt-3">
          Waiting for the app to send its secret. Add the address as a webhook there now. The wait ends{" "}
          <Time at={offered.until} />.
        </Notice>
      )}
      {!isWaiting && (
        <p className="text-muted mt-2 text-xs">
          {secretCreatedAt === null ? (
            offered === null && "There is no secret yet, so notifications are refused."
          ) : (
            <>
              Secret created <Time at={secretCreatedAt} />
            </>
          )}
        </p>
      )}
      {offered && offered.secret !== null && (
        <div className="mt-4">
          <CopyField label="Secret that the app sent" showsLabel value={offered.secret} />
          <p className="text-muted mt-2 text-xs">
            Confirm it in the app. If the app refuses it, someone else sent it: choose “Replace secret”, and send it
            from the app again. It disappears from this page <Time at={offered.until} />.
          </p>
        </div>
      )}
      {isAsking && (
        <ConfirmDialog act="Replace" onClose={() => setAsking(false)} onConfirm={create} title="Replace the secret?">
          The old secret stops working immediately. Until{" "}
          {isOffered ? "the app has sent another one" : "you set the new one in the app"}, its notifications are
          refused.
        </ConfirmDialog>
      )}
      {secret !== undefined && !isAsking && (
        <Dialog isSticky onClose={done} title="Copy the secret">
          <p className="text-muted mb-3">Set it as the secret of the webhook in the app. It is shown only once.</p>
          <CopyField isOnce label="Secret" value={secret} />
          <div className="mt-5 text-right">
            <Button kind="primary" onClick={done}>
              Done
            </Button>
          </div>
        </Dialog>
      )}
    </Section>
  );
}
