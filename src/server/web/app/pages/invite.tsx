import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Session } from "#api/session.ts";
import { deviceTimeZone } from "#server/web/app/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { useLinkToken } from "#server/web/app/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { NoLink } from "#server/web/app/shell/no-link.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Form, PasswordField, secret, text, TextField } from "#server/web/app/ui/form.tsx";

/** Accepts an invitation: as the person who is signed in, with an account, or as somebody new. */
export function Page() {
  const token = useLinkToken();
  const session = useQuery({ queryKey: ["session", "if-any"], queryFn: findSession });
  if (token === undefined) return <NoLink title="Accept an invitation" />;
  return (
    <Loaded query={session}>
      {({ session }) =>
        session === undefined ? <Accept token={token} /> : <AcceptAs session={session} token={token} />
      }
    </Loaded>
  );
}

async function findSession(): Promise<{ session: Session | undefined }> {
  const { data } = await api.GET("/api/session");
  return { session: data };
}

/** A page load goes to the workspace that was joined. */
function enter(): void {
  window.location.replace("/settings/mcp-access");
}

function AcceptAs({ session, token }: { session: Session; token: string }) {
  const [isOther, setOther] = useState(false);
  if (isOther) return <Accept token={token} />;
  async function accept(): Promise<void> {
    await take(api.POST("/api/invitations/accept", { body: { token } }));
    enter();
  }
  return (
    <EntryCard
      below={
        <Button kind="quiet" onClick={() => setOther(true)}>
          Accept as somebody else
        </Button>
      }
      lead={
        <>
          You are signed in as <strong className="text-ink">{session.user.name}</strong> ({session.user.email}).
        </>
      }
      title="Accept the invitation"
    >
      <Form isWide onSubmit={accept} submit={`Join as ${session.user.name}`}>
        {null}
      </Form>
    </EntryCard>
  );
}

function Accept({ token }: { token: string }) {
  const [isNew, setNew] = useState(true);

  async function accept(fields: FormData): Promise<void> {
    const body = {
      token,
      email: text(fields, "email"),
      password: secret(fields, "password"),
      timeZone: deviceTimeZone(),
      ...(isNew && { name: text(fields, "name") }),
    };
    await take(api.POST("/api/invitations/accept", { body }));
    enter();
  }

  return (
    <EntryCard
      below={
        <Button kind="quiet" onClick={() => setNew(!isNew)}>
          {isNew ? "I have an account here" : "I am new here"}
        </Button>
      }
      lead={
        isNew ? "Make your account; the address must be the one that was invited." : "Prove that the account is yours."
      }
      title="Accept the invitation"
    >
      <Form isWide onSubmit={accept} submit="Join the workspace">
        {isNew && <TextField autoComplete="name" autoFocus label="Your name" maxLength={120} name="name" />}
        <TextField autoComplete="email" label="E-mail address" maxLength={254} name="email" type="email" />
        <PasswordField autoComplete={isNew ? "new-password" : "current-password"} label="Password" name="password" />
      </Form>
    </EntryCard>
  );
}
