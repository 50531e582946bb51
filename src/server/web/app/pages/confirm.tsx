import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import type { ConfirmResult } from "#api/session.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { useLinkToken } from "#server/web/app/link-token.ts";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { NoLink } from "#server/web/app/shell/no-link.tsx";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Form, PasswordField, secret } from "#server/web/app/ui/form.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";

/** Confirms a mailed link: a sign-up, an address, a new address. */
export function Page() {
  const token = useLinkToken();
  return token === undefined ? <NoLink title="Confirm your address" /> : <Confirm key={token} token={token} />;
}

const CONFIRMED: Readonly<Record<ConfirmResult["purpose"], string>> = {
  sign_up: "Your account is made.",
  verification: "Your e-mail address is confirmed.",
  email_change: "Your new e-mail address is confirmed. From now on you sign in with it.",
};

function Confirm({ token }: { token: string }) {
  const confirm = useMutation({
    mutationFn: (password: string | undefined) =>
      take(
        api.POST("/api/email-verification/confirm", { body: { token, ...(password !== undefined && { password }) } }),
      ),
  });
  const { mutate, isIdle } = confirm;
  useEffect(() => {
    if (isIdle) mutate(undefined);
  }, [isIdle, mutate]);

  const below = <a href="/">Go to the start</a>;
  if (confirm.data !== undefined) {
    return <EntryCard below={below} lead={CONFIRMED[confirm.data.purpose]} title="Confirmed" />;
  }
  if (
    confirm.error !== null &&
    (toProblem(confirm.error).code === "password_needed" || confirm.variables !== undefined)
  ) {
    return (
      <EntryCard
        lead="The link was asked for in another browser. Your password proves that it was you."
        title="Confirm your address"
      >
        <Form isWide onSubmit={(fields) => confirm.mutateAsync(secret(fields, "password"))} submit="Confirm">
          <PasswordField autoComplete="current-password" autoFocus label="Password" name="password" />
        </Form>
      </EntryCard>
    );
  }
  return (
    <EntryCard below={below} title="Confirm your address">
      {confirm.error === null ? <Skeleton lines={2} /> : <ProblemNotice problem={toProblem(confirm.error)} />}
    </EntryCard>
  );
}
