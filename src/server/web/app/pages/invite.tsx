import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { InvitationOffer } from "#api/links.ts";
import type { Session } from "#api/session.ts";
import { deviceTimeZone } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { invitationOfferQuery } from "#server/web/app/data/queries.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { CheckedLink } from "#server/web/app/shell/checked-link.tsx";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { NoLink } from "#server/web/app/shell/no-link.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { EmailField, Form, PasswordField, secret, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";

/** Accepts an invitation: as the signed-in person, with an existing account, or as a new user. */
export function Page() {
  const token = useLinkToken();
  return token === undefined ? <NoLink title={TITLE} /> : <Invitation key={token} token={token} />;
}

const TITLE = "Accept an invitation";

interface Invited {
  token: string;
  offer: InvitationOffer;
}

function Invitation({ token }: { token: string }) {
  return (
    <CheckedLink
      next={
        <>
          Already joined? <Link to="/sign-in">Sign in</Link>
        </>
      }
      overCode="invitation_invalid"
      overTitle="This invitation is no longer valid"
      query={useQuery(invitationOfferQuery(token))}
      title={TITLE}
    >
      {({ offer, session }) =>
        session !== undefined && isSameAddress(session.user.email, offer.email) ? (
          <AcceptAs offer={offer} session={session} token={token} />
        ) : (
          <Accept offer={offer} session={session} token={token} />
        )
      }
    </CheckedLink>
  );
}

/** The server stores the address of an invitation in lower case. */
function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Loads the page again to open the joined workspace. */
function enter(): void {
  window.location.replace("/");
}

/** States in one sentence who invites whom to which workspace. */
function Sentence({ inviterName, email, workspaceName }: InvitationOffer) {
  return (
    <>
      <strong className="text-ink">{inviterName ?? "Someone"}</strong> invited{" "}
      <strong className="text-ink">{email}</strong> to <strong className="text-ink">{workspaceName}</strong>.
    </>
  );
}

function AcceptAs({ session, token, offer }: Invited & { session: Session }) {
  async function accept(): Promise<void> {
    await api.post("/api/invitations/accept", { body: { token } });
    enter();
  }
  return (
    <EntryCard lead={<Sentence {...offer} />} title={`Join ${offer.workspaceName}`}>
      <Form isWide onSubmit={accept} submit={`Join as ${session.user.name}`}>
        {null}
      </Form>
    </EntryCard>
  );
}

function Accept({ token, offer, session }: Invited & { session: Session | undefined }) {
  const [isNew, setNew] = useState(true);

  async function accept(fields: FormData): Promise<void> {
    const body = {
      token,
      email: offer.email,
      password: secret(fields, "password"),
      timeZone: deviceTimeZone(),
      ...(isNew && { name: text(fields, "name") }),
    };
    await api.post("/api/invitations/accept", { body });
    enter();
  }

  return (
    <EntryCard
      below={
        <Button kind="quiet" onClick={() => setNew(!isNew)}>
          {isNew ? "I already have an account" : "I'm new here"}
        </Button>
      }
      lead={
        <>
          <Sentence {...offer} /> {isNew ? "Create your account." : "Sign in to your account."}
        </>
      }
      title={`Join ${offer.workspaceName}`}
    >
      {session && (
        <Notice className="mb-4">
          You're signed in as {session.user.email}. Joining signs you in as {offer.email} instead.
        </Notice>
      )}
      <Form isWide onSubmit={accept} submit={`Join ${offer.workspaceName}`}>
        {isNew && <TextField autoComplete="name" autoFocus label="Your name" maxLength={120} name="name" />}
        <EmailField autoComplete="username" readOnly value={offer.email} />
        <PasswordField autoComplete={isNew ? "new-password" : "current-password"} label="Password" name="password" />
      </Form>
    </EntryCard>
  );
}
