import { useState } from "react";
import type { ConsentRequest } from "#api/oauth.ts";
import type { Session } from "#api/session.ts";
import { api } from "#server/web/app/data/client.ts";
import { ConsentCard, type Decision } from "#server/web/app/shell/consent-card.tsx";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "#server/web/app/data/queries.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";

/**
 * Grants access to a device without a browser, with the code that the device shows. The code is typed, never taken from
 * the address.
 */
export function Page() {
  // A person who isn't signed in goes to the sign-in page before they type a code, not after.
  return <Loaded query={useQuery(sessionQuery)}>{({ user }) => <Device user={user} />}</Loaded>;
}

function Device({ user }: { user: Session["user"] }) {
  const [asked, setAsked] = useState<{ userCode: string; request: ConsentRequest }>();
  const [decided, setDecided] = useState<Decision["decision"]>();

  async function find(fields: FormData): Promise<void> {
    const userCode = text(fields, "userCode");
    setAsked({ userCode, request: await api.post("/oauth/device/request", { body: { userCode } }) });
  }

  async function decide(decision: Decision): Promise<void> {
    if (asked === undefined) return;
    await api.post("/oauth/device/decision", { body: { ...decision, userCode: asked.userCode } });
    setDecided(decision.decision);
  }

  if (decided !== undefined) {
    return (
      <EntryCard
        lead={
          decided === "allow"
            ? "Go back to your device. You can close this page."
            : "The device has no access. You can close this page."
        }
        title={decided === "allow" ? "Device connected" : "Access denied"}
      />
    );
  }
  if (asked !== undefined) {
    return (
      <ConsentCard
        onDecide={decide}
        request={asked.request}
        user={user}
        warning={
          <Notice tone="warn">
            Only continue if you just started this yourself and your device shows{" "}
            <strong className="font-mono whitespace-nowrap">{asked.userCode}</strong>. No one from kb ever asks you for
            a code.
          </Notice>
        }
      />
    );
  }
  return (
    <EntryCard lead="Enter the code shown on your device or in your terminal." title="Connect a device">
      <Form isWide onSubmit={find} submit="Continue">
        <TextField
          autoCapitalize="characters"
          autoFocus
          className="font-mono"
          hint="Only enter a code that you requested yourself. Never enter a code that someone sent you."
          label="Code"
          maxLength={20}
          name="userCode"
          placeholder="ABCD-EFGH"
          spellCheck={false}
        />
      </Form>
    </EntryCard>
  );
}
