import { useState } from "react";
import { Link } from "@tanstack/react-router";
import type { Account, AccountProviderInfo } from "#api/accounts.ts";
import { safeReturnTo } from "#api/return-to.ts";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { useIsAdmin } from "#server/web/app/shell/session.ts";
import { Button } from "#server/web/app/ui/button.tsx";
import { Form, secret, SelectField, TextField } from "#server/web/app/ui/form.tsx";
import { hostOf } from "./departure.ts";

/**
 * A field for a token that the person created at the provider. The token links the person to the account that it
 * belongs to.
 */
export function OwnToken({
  provider: { providerId, name, ownTokens, setUp },
  account,
  onDone,
}: {
  provider: AccountProviderInfo;
  /** The account to reconnect. */
  account?: Account;
  onDone?: () => void;
}) {
  const [chosen, setChosen] = useState<string>();
  const instances = ownTokens?.instances ?? [];
  const place = account?.baseUrl ?? chosen;
  const instance = instances.find(({ baseUrl }) => baseUrl === place) ?? instances[0];
  if (ownTokens === null || instance === undefined) {
    return <RegisterFirst name={name} />;
  }
  function add(fields: FormData): Promise<{ account: Account }> {
    const where = account ? { accountId: account.id } : { baseUrl: instance?.baseUrl ?? "" };
    const credentials = { token: secret(fields, "token").trim() };
    return api.post("/api/accounts", { body: { providerId, ...where, credentials } });
  }
  function goOn(): void {
    onDone?.();
    const returnTo = addressParameter("returnTo");
    if (returnTo !== undefined) window.location.assign(safeReturnTo(returnTo));
  }
  return (
    <div className="max-w-xl space-y-4">
      <p className="max-w-prose">
        {ownTokens.steps}{" "}
        {instance.url && (
          <a href={instance.url} rel="noreferrer" target="_blank">
            Open {name}
          </a>
        )}
      </p>
      <Form
        invalidates={["accounts", "session"]}
        onDone={goOn}
        onSubmit={add}
        resets
        secondary={onDone && <Button onClick={onDone}>Cancel</Button>}
        submit="Connect with this token"
        submitKind={setUp === null ? "primary" : "plain"}
        toast={({ account: { label } }) => `${label} is connected`}
      >
        {account === undefined && instances.length > 1 && (
          <SelectField
            choices={instances.map(({ baseUrl }) => [baseUrl, hostOf(baseUrl)])}
            label="Instance"
            name="baseUrl"
            onChoose={setChosen}
            value={instance.baseUrl}
          />
        )}
        <TextField
          hint={`${hostOf(instance.baseUrl)} says whose it is. ${
            setUp === null
              ? "kb stores it encrypted, and uses it only to ask who you are."
              : "kb stores it encrypted, and uses it only for you and your connectors."
          }`}
          label={`Token from ${name}`}
          maxLength={8192}
          name="token"
          required
          type="password"
        />
      </Form>
    </div>
  );
}

/**
 * Shown until an admin has marked the instance as trusted, because people can prove who they are there only after that.
 */
export function RegisterFirst({ name }: { name: string }) {
  if (!useIsAdmin()) return <>Ask an admin to register your {name}.</>;
  return (
    <>
      First{" "}
      <Link className="text-accent underline" to="/workspace/general">
        register your {name}
      </Link>{" "}
      as an instance.
    </>
  );
}
