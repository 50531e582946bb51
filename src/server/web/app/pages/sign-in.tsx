import { useQuery } from "@tanstack/react-query";
import { Link, Navigate } from "@tanstack/react-router";
import type { EntryState } from "#api/session.ts";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { entryQuery } from "#server/web/app/data/queries.ts";
import { safeReturnTo } from "#api/return-to.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { describeSsoFailure } from "./sso-words.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { EmailField, Form, PasswordField, secret, text } from "#server/web/app/ui/form.tsx";
import { Notice } from "#server/web/app/ui/notice.tsx";

/** Sign-in by password or at the identity provider. A new installation is set up first. */
export function Page() {
  const entry = useQuery(entryQuery);
  return (
    <Loaded query={entry}>
      {(state) => (state.needed ? <Navigate replace to="/welcome" /> : <SignIn entry={state} />)}
    </Loaded>
  );
}

function SignIn({ entry }: { entry: EntryState }) {
  const returnTo = safeReturnTo(addressParameter("returnTo"));
  const failure = describeSsoFailure(addressParameter("error"));

  async function signIn(fields: FormData): Promise<void> {
    await api.post("/api/session", { body: { email: text(fields, "email"), password: secret(fields, "password") } });
    // The page is loaded again instead of changed, so that nothing fetched before the sign-in remains.
    window.location.replace(returnTo);
  }

  return (
    <EntryCard
      below={<Below entry={entry} />}
      title="Sign in"
      {...(returnTo !== "/" && { lead: "Sign in to continue." })}
    >
      <div className="space-y-4">
        {failure && <Notice tone="danger">{failure}</Notice>}
        {entry.sso && (
          <>
            <a
              className={buttonClass("plain", "w-full")}
              href={`/api/sso/authorize?returnTo=${encodeURIComponent(returnTo)}`}
            >
              Sign in with {entry.sso}
            </a>
            <p className="text-muted flex items-center gap-3 text-xs before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
              or with a password
            </p>
          </>
        )}
        <Form isWide onSubmit={signIn} submit="Sign in">
          <EmailField autoComplete="username" autoFocus />
          <PasswordField autoComplete="current-password" label="Password" name="password" />
        </Form>
      </div>
    </EntryCard>
  );
}

function Below({ entry }: { entry: EntryState }) {
  return (
    <>
      <p>
        <Link to="/forgot-password">Forgot your password?</Link>
      </p>
      {entry.signup === "open" ? (
        <p>
          New here? <Link to="/sign-up">Create an account</Link>
        </p>
      ) : (
        <p>New here? Ask an admin of your workspace for an invitation.</p>
      )}
    </>
  );
}
