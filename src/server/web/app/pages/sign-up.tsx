import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "#server/web/app/data/client.ts";
import { entryQuery } from "#server/web/app/data/queries.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { Form } from "#server/web/app/ui/form.tsx";
import { AccountFields, accountOf } from "./account-fields.tsx";

/** Creates an account and a workspace for it, if sign-up is open. */
export function Page() {
  return (
    <Loaded query={useQuery(entryQuery)}>
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
    const body = accountOf(fields);
    await api.post("/api/sign-up", { body });
    setSentTo(body.email);
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
        <AccountFields hasFocus />
      </Form>
    </EntryCard>
  );
}
