import { Link } from "@tanstack/react-router";
import { api, take } from "#server/web/app/data/client.ts";
import { useLinkToken } from "#server/web/app/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { NoLink } from "#server/web/app/shell/no-link.tsx";
import { Form, PasswordField, secret } from "#server/web/app/ui/form.tsx";

/** Sets a new password by a link. */
export function Page() {
  const token = useLinkToken();
  if (token === undefined) return <NoLink title="Set a new password" />;

  async function confirm(fields: FormData): Promise<void> {
    await take(
      api.POST("/api/password-reset/confirm", { body: { token: token ?? "", password: secret(fields, "password") } }),
    );
    window.location.replace("/");
  }

  return (
    <EntryCard
      below={<Link to="/forgot-password">Ask for another link</Link>}
      lead="Everything else that was signed in to your account ends: sessions, tokens, connected apps."
      title="Set a new password"
    >
      <Form isWide onSubmit={confirm} submit="Set the password and sign in">
        <PasswordField autoComplete="new-password" autoFocus label="New password" name="password" />
      </Form>
    </EntryCard>
  );
}
