import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { HOME_PATH } from "#api/return-to.ts";
import { api } from "#server/web/app/data/client.ts";
import { entryQuery } from "#server/web/app/data/queries.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { Form, text, TextField } from "#server/web/app/ui/form.tsx";
import { AccountFields, accountOf } from "./account-fields.tsx";

/** Creates the first admin of a new installation with the setup code that the server printed. */
export function Page() {
  // An operator can open the setup again with a code in the link.
  const code = useLinkToken();
  return (
    <Loaded query={useQuery(entryQuery)}>
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
    await api.post("/api/onboarding", { body: { setupCode: text(fields, "setupCode"), ...accountOf(fields) } });
    window.location.replace(HOME_PATH);
  }

  return (
    <EntryCard lead="Create your admin account and workspace. You can invite others later." title="Set up kb">
      <Form isWide onSubmit={onboard} submit="Set up">
        <TextField
          autoFocus={code === undefined}
          className="font-mono"
          defaultValue={code}
          hint="kb serve printed it in its terminal. It expires after 24 hours."
          label="Setup code"
          name="setupCode"
          spellCheck={false}
        />
        <AccountFields hasFocus={code !== undefined} workspaceHint="For example, the name of your company or team." />
      </Form>
    </EntryCard>
  );
}
