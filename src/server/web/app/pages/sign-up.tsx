import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { deviceTimeZone } from "#server/web/app/data/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { entryQuery } from "#server/web/app/data/queries.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { Form, PasswordField, secret, text, TextField } from "#server/web/app/ui/form.tsx";

/** Creates an account and its own workspace, where sign-up is open. */
export function Page() {
  const entry = useQuery(entryQuery);
  return (
    <Loaded query={entry}>
      {({ signup }) =>
        signup === "open" ? (
          <SignUp />
        ) : (
          <EntryCard
            below={<Link to="/sign-in">Sign in</Link>}
            lead="You need an invitation to join. Ask an admin of your workspace for one."
            title="Sign-up is disabled"
          />
        )
      }
    </Loaded>
  );
}

function SignUp() {
  const [sentTo, setSentTo] = useState<string>();

  async function signUp(fields: FormData): Promise<void> {
    const email = text(fields, "email");
    const body = {
      name: text(fields, "name"),
      email,
      password: secret(fields, "password"),
      workspaceName: text(fields, "workspaceName"),
      timeZone: deviceTimeZone(),
    };
    await take(api.POST("/api/sign-up", { body }));
    setSentTo(email);
  }

  if (sentTo !== undefined) {
    return (
      <EntryCard
        lead={
          <>
            We sent a link to <strong className="text-ink">{sentTo}</strong>. To finish, open the link in this browser.
          </>
        }
        title="Check your inbox"
      />
    );
  }
  return (
    <EntryCard
      below={
        <p>
          Already have an account? <Link to="/sign-in">Sign in</Link>
        </p>
      }
      lead="You get your own workspace and can invite others later."
      title="Create your account"
    >
      <Form isWide onSubmit={signUp} submit="Create account">
        <TextField autoComplete="name" autoFocus label="Your name" maxLength={120} name="name" />
        <TextField autoComplete="email" label="Email address" maxLength={254} name="email" type="email" />
        <PasswordField autoComplete="new-password" label="Password" name="password" />
        <TextField autoComplete="organization" label="Workspace name" maxLength={120} name="workspaceName" />
      </Form>
    </EntryCard>
  );
}
