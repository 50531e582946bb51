import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { HOME_PATH } from "#api/return-to.ts";
import { deviceTimeZone } from "#server/web/app/data/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { entryQuery } from "#server/web/app/data/queries.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { Form, PasswordField, secret, text, TextField } from "#server/web/app/ui/form.tsx";

/** Creates the first admin of a new installation with the setup code that the server printed. */
export function Page() {
  const entry = useQuery(entryQuery);
  // With a code of its own, the operator can open the setup again.
  const code = useLinkToken();
  return (
    <Loaded query={entry}>
      {({ needed }) =>
        needed || code !== undefined ? (
          <Onboarding code={code} />
        ) : (
          <EntryCard
            below={<Link to="/sign-in">Sign in</Link>}
            lead="Sign in, or ask an admin for an invitation."
            title="kb is already set up"
          />
        )
      }
    </Loaded>
  );
}

function Onboarding({ code }: { code: string | undefined }) {
  async function onboard(fields: FormData): Promise<void> {
    const body = {
      setupCode: text(fields, "setupCode"),
      name: text(fields, "name"),
      email: text(fields, "email"),
      password: secret(fields, "password"),
      workspaceName: text(fields, "workspaceName"),
      timeZone: deviceTimeZone(),
    };
    await take(api.POST("/api/onboarding", { body }));
    window.location.replace(HOME_PATH);
  }

  return (
    <EntryCard lead="Create your admin account and workspace. You can invite others later." title="Set up kb">
      <Form isWide onSubmit={onboard} submit="Set up">
        <TextField
          autoComplete="off"
          autoFocus={code === undefined}
          className="font-mono"
          defaultValue={code}
          hint="kb serve printed it in its terminal. It expires after 24 hours."
          label="Setup code"
          name="setupCode"
          spellCheck={false}
        />
        <TextField autoComplete="name" autoFocus={code !== undefined} label="Your name" maxLength={120} name="name" />
        <TextField autoComplete="email" label="Email address" maxLength={254} name="email" type="email" />
        <PasswordField autoComplete="new-password" label="Password" name="password" />
        <TextField
          autoComplete="organization"
          hint="For example, the name of your company or team."
          label="Workspace name"
          maxLength={120}
          name="workspaceName"
        />
      </Form>
    </EntryCard>
  );
}
