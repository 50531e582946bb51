import { useEffect, useRef, useState } from "react";
import type { ConfirmResult } from "#api/session.ts";
import { api } from "#server/web/app/data/client.ts";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { NoLink } from "#server/web/app/shell/no-link.tsx";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Form, PasswordField, secret } from "#server/web/app/ui/form.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";

/** Confirms a mailed link: for a sign-up, an address or a new address. */
export function Page() {
  const token = useLinkToken();
  return token === undefined ? <NoLink title="Confirm your address" /> : <Confirm key={token} token={token} />;
}

const CONFIRMED: Readonly<Record<ConfirmResult["purpose"], string>> = {
  sign_up: "Your account is ready.",
  verification: "Your email address is confirmed.",
  email_change: "Your new email address is confirmed. Use it to sign in from now on.",
};

function Confirm({ token }: { token: string }) {
  const [result, setResult] = useState<ConfirmResult>();
  const [problem, setProblem] = useState<Problem>();
  const isAsked = useRef(false);

  // The first try uses up the link, so the request is sent only once.
  useEffect(() => {
    if (isAsked.current) return;
    isAsked.current = true;
    send({ token }).then(setResult, (error: unknown) => setProblem(toProblem(error)));
  }, [token]);

  const below = <a href="/">Go to the home page</a>;
  if (result !== undefined) return <EntryCard below={below} lead={CONFIRMED[result.purpose]} title="Confirmed" />;
  if (problem?.code === "password_needed") {
    return (
      <EntryCard
        lead="You requested this link in another browser. Enter your password to confirm it's you."
        title="Confirm your address"
      >
        <Form
          isWide
          onSubmit={async (fields) => setResult(await send({ token, password: secret(fields, "password") }))}
          submit="Confirm"
        >
          <PasswordField autoComplete="current-password" autoFocus label="Password" name="password" />
        </Form>
      </EntryCard>
    );
  }
  return (
    <EntryCard below={below} title="Confirm your address">
      {problem === undefined ? <Skeleton lines={2} /> : <ProblemNotice problem={problem} />}
    </EntryCard>
  );
}

function send(body: { token: string; password?: string }): Promise<ConfirmResult> {
  return api.post("/api/email-verification/confirm", { body });
}
