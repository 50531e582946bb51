import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "#server/web/app/data/client.ts";
import { entryQuery } from "#server/web/app/data/queries.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { EmailField, Form, text } from "#server/web/app/ui/form.tsx";

/** Requests a link that sets a new password. Without a mail server, an admin makes the link. */
export function Page() {
  const entry = useQuery(entryQuery);
  const [sentTo, setSentTo] = useState<string>();

  async function request(fields: FormData): Promise<void> {
    const email = text(fields, "email");
    await api.post("/api/password-reset", { body: { email } });
    setSentTo(email);
  }

  const below = <Link to="/sign-in">Back to sign-in</Link>;
  if (sentTo !== undefined) {
    return (
      <EntryCard
        below={below}
        lead={
          <>
            If <strong className="text-ink">{sentTo}</strong> has an account, we sent a link to it. The link expires in
            an hour.
          </>
        }
        title="Check your inbox"
      />
    );
  }
  return (
    <Loaded query={entry}>
      {({ canMail }) =>
        canMail ? (
          <EntryCard below={below} lead="We'll send you a link to set a new one." title="Forgot your password?">
            <Form isWide onSubmit={request} submit="Send link">
              <EmailField autoFocus />
            </Form>
          </EntryCard>
        ) : (
          <EntryCard
            below={below}
            lead="This server doesn't send email. Ask a workspace owner to create a reset link for you on the Members page."
            title="Forgot your password?"
          />
        )
      }
    </Loaded>
  );
}
