import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "#server/web/app/data/client.ts";
import { resetOfferQuery } from "#server/web/app/data/queries.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { CheckedLink } from "#server/web/app/shell/checked-link.tsx";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { NoLink } from "#server/web/app/shell/no-link.tsx";
import { EmailField, Form, PasswordField, secret } from "#server/web/app/ui/form.tsx";

/** Sets a new password, for a person who opened a link. */
export function Page() {
  const token = useLinkToken();
  return token === undefined ? <NoLink title={TITLE} /> : <Reset key={token} token={token} />;
}

const TITLE = "Set a new password";

function Reset({ token }: { token: string }) {
  const another = <Link to="/forgot-password">Request a new link</Link>;

  async function confirm(fields: FormData): Promise<void> {
    await api.post("/api/password-reset/confirm", { body: { token, password: secret(fields, "password") } });
    window.location.replace("/");
  }

  return (
    <CheckedLink
      next={another}
      overCode="link_invalid"
      overTitle="This link is no longer valid"
      query={useQuery(resetOfferQuery(token))}
      title={TITLE}
    >
      {({ email }) => (
        <EntryCard
          below={another}
          lead="A new password ends your sessions, revokes your tokens and disconnects your clients."
          title={TITLE}
        >
          <Form isWide onSubmit={confirm} submit="Set password and sign in">
            <EmailField autoComplete="username" readOnly value={email} />
            <PasswordField autoComplete="new-password" autoFocus label="New password" name="password" />
          </Form>
        </EntryCard>
      )}
    </CheckedLink>
  );
}
