import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Account, AccountProviderInfo } from "#api/accounts.ts";
import { safeReturnTo } from "#api/return-to.ts";
import { accountNotice } from "#server/web/app/account-words.ts";
import { addressParameter } from "#server/web/app/browser.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { accountsQuery, sessionQuery } from "#server/web/app/data/queries.ts";
import { toProblem, type Problem } from "#server/web/app/data/problem.ts";
import { useLinkToken } from "#server/web/app/link-token.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { CopyField } from "#server/web/app/ui/copy-field.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { Form, secret, SelectField, text, TextField } from "#server/web/app/ui/form.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** The person's accounts at other services: connecting one begins and ends here. */
export function Page() {
  const accounts = useQuery(accountsQuery);
  const found = useLinkToken();
  const [wanted, setWanted] = useState(addressParameter("connect"));
  const notice = accountNotice(addressParameter("account"), addressParameter("reason"));
  return (
    <>
      <PageHeading title="Accounts">
        Connect your account at another service: you find what you can read there, and your connectors can read with it.
      </PageHeading>
      {notice && (
        <Notice className="mb-5" tone={notice.tone}>
          {notice.text}
        </Notice>
      )}
      <div className="space-y-5">
        {found !== undefined && <FoundCard id={found} key={found} />}
        <Loaded query={accounts}>
          {({ accounts, providers }) => (
            <>
              {providers
                .filter(({ providerId }) => found === undefined && providerId === wanted)
                .map((provider) => (
                  <ConnectCard key={provider.providerId} onCancel={() => setWanted(undefined)} provider={provider} />
                ))}
              <Section title="Your accounts">
                {accounts.length === 0 ? (
                  <EmptyState icon="person" title="No accounts yet">
                    Choose a service below to connect one.
                  </EmptyState>
                ) : (
                  <ul className="divide-line -my-3 divide-y">
                    {accounts.map((account) => (
                      <AccountRow account={account} key={account.id} />
                    ))}
                  </ul>
                )}
              </Section>
              <Section title="Services">
                <ul className="divide-line -my-3 divide-y">
                  {providers.map((provider) => (
                    <ProviderRow
                      key={provider.providerId}
                      onConnect={() => setWanted(provider.providerId)}
                      provider={provider}
                    />
                  ))}
                </ul>
              </Section>
            </>
          )}
        </Loaded>
      </div>
    </>
  );
}

/** Goes to the provider; a failure is shown where the button is. */
function useDeparture(): {
  failure: Problem | undefined;
  isBusy: boolean;
  go(provider: string, accountId?: string): void;
} {
  const [failure, setFailure] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  async function go(provider: string, accountId?: string): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const returnTo = addressParameter("returnTo");
      const body = { ...(returnTo !== undefined && { returnTo }), ...(accountId !== undefined && { accountId }) };
      const { url } = await take(
        api.POST("/api/accounts/{provider}/authorize", { params: { path: { provider } }, body }),
      );
      window.location.assign(url);
    } catch (error) {
      setFailure(toProblem(error));
      setBusy(false);
    }
  }
  return { failure, isBusy, go: (provider, accountId) => void go(provider, accountId) };
}

/** What will be connected, for whom and where, before the browser leaves. */
function ConnectCard({ provider, onCancel }: { provider: AccountProviderInfo; onCancel: () => void }) {
  const { user, workspace } = useSession();
  const { failure, isBusy, go } = useDeparture();
  const { name, providerId, baseUrl, scopes, configured } = provider;
  if (!configured) {
    return (
      <Section title={`Connect ${name}`}>
        <SetUp provider={provider} />
      </Section>
    );
  }
  return (
    <Section title={`Connect ${name}?`}>
      <div className="space-y-3">
        <p className="max-w-prose wrap-anywhere">
          You connect your account at <strong>{hostOf(baseUrl)}</strong> as <strong>{user.email}</strong> in the
          workspace <strong>{workspace.name}</strong>.
        </p>
        <ul className="text-muted list-disc space-y-1 pl-5">
          <li>You find what your user there can read, in every connector for {name} in this workspace.</li>
          <li>Connectors that you create can read with it. Nobody else can use it.</li>
          <li className="wrap-anywhere">
            kb asks for: <span className="font-mono text-xs">{scopes.join(", ")}</span>
          </li>
        </ul>
        {failure && <ProblemNotice problem={failure} />}
        <div className="flex flex-wrap gap-2">
          <Button isBusy={isBusy} kind="primary" onClick={() => go(providerId)}>
            Continue to {name}
          </Button>
          <Button onClick={onCancel}>Cancel</Button>
        </div>
      </div>
    </Section>
  );
}

/** Who was found at the provider: kept only when the person says that it is them. */
function FoundCard({ id }: { id: string }) {
  const client = useQueryClient();
  const { user, workspace } = useSession();
  const query = useQuery({
    queryKey: ["account-found", id],
    queryFn: () => take(api.POST("/api/accounts/found", { body: { id } })),
    staleTime: Infinity,
    retry: false,
  });
  const [failure, setFailure] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);

  async function decide(isAccepted: boolean): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const { returnTo } = await take(api.POST("/api/accounts/confirm", { body: { id, isAccepted } }));
      await client.invalidateQueries({ queryKey: accountsQuery.queryKey });
      window.location.assign(returnTo);
    } catch (error) {
      setFailure(toProblem(error));
      setBusy(false);
    }
  }

  return (
    <Section title="Is this your account?">
      <Loaded lines={2} query={query}>
        {({ found }) => (
          <div className="space-y-3">
            <p className="max-w-prose wrap-anywhere">
              <strong>{found.label}</strong> at {found.providerName} ({hostOf(found.baseUrl)}) will be connected to{" "}
              <strong>{user.email}</strong> in the workspace <strong>{workspace.name}</strong>.
            </p>
            {failure && <ProblemNotice problem={failure} />}
            <div className="flex flex-wrap gap-2">
              <Button isBusy={isBusy} kind="primary" onClick={() => void decide(true)}>
                Connect {found.login ?? found.label}
              </Button>
              <Button disabled={isBusy} onClick={() => void decide(false)}>
                That’s not me
              </Button>
            </div>
          </div>
        )}
      </Loaded>
    </Section>
  );
}

function AccountRow({ account }: { account: Account }) {
  const client = useQueryClient();
  const { failure, isBusy, go } = useDeparture();
  const [isEnding, setEnding] = useState(false);
  const { id, label, providerId, providerName, baseUrl, state, stateReason, isLinked, connectors, way } = account;

  async function disconnect(): Promise<void> {
    await take(api.DELETE("/api/accounts/{id}", { params: { path: { id } } }));
    toast(`${label} is disconnected`);
    await client.invalidateQueries({ queryKey: accountsQuery.queryKey });
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  }

  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-56 space-y-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium wrap-anywhere">{label}</span>
          {state === "active" ? <Badge tone="ok">Connected</Badge> : <Badge tone="warn">Connect again</Badge>}
          {state === "active" && !isLinked && <Badge tone="warn">Not linked</Badge>}
        </p>
        <p className="text-muted wrap-anywhere">
          {providerName}, {hostOf(baseUrl)}
          {way === "token" && ", with a token of yours"}. Confirmed <Time at={account.confirmedAt} />.
        </p>
        {stateReason !== null && <p className="text-warn wrap-anywhere">{stateReason}</p>}
        {connectors.length > 0 && (
          <p className="text-muted wrap-anywhere">Connectors: {connectors.map(({ name }) => name).join(", ")}</p>
        )}
        {failure && <ProblemNotice problem={failure} />}
      </div>
      <div className="flex flex-wrap gap-1">
        {way === "oauth" && (
          <Button
            aria-label={`Connect again: ${label}`}
            isBusy={isBusy}
            kind="quiet"
            onClick={() => go(providerId, id)}
          >
            Connect again
          </Button>
        )}
        <Button aria-label={`Disconnect ${label}`} kind="quiet" onClick={() => setEnding(true)}>
          Disconnect
        </Button>
      </div>
      <ConfirmDialog
        act="Disconnect"
        isOpen={isEnding}
        onClose={() => setEnding(false)}
        onConfirm={disconnect}
        title={`Disconnect ${label}?`}
      >
        <p>
          You stop finding what only this account lets you read, and its tokens are revoked.
          {connectors.length > 0 && ` These connectors stop: ${connectors.map(({ name }) => name).join(", ")}.`}
        </p>
      </ConfirmDialog>
    </li>
  );
}

function ProviderRow({ provider, onConnect }: { provider: AccountProviderInfo; onConnect: () => void }) {
  const { name, baseUrl, configured, ownTokens } = provider;
  const hasOwn = ownTokens !== null && ownTokens.baseUrls.length > 0;
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <p className="font-medium">{name}</p>
          <p className="text-muted wrap-anywhere">{configured ? hostOf(baseUrl) : "Not set up on this server"}</p>
        </div>
        {configured && (
          <Button aria-label={`Connect ${name}`} onClick={onConnect}>
            Connect
          </Button>
        )}
      </div>
      {!configured && (
        <details className="mt-2">
          <summary className="text-accent cursor-pointer">Set up {name}</summary>
          <div className="mt-3">
            <SetUp provider={provider} />
          </div>
        </details>
      )}
      {hasOwn && (
        <details className="mt-2">
          <summary className="text-accent cursor-pointer">Use a token from {name}</summary>
          <div className="mt-3">
            <OwnToken baseUrls={ownTokens.baseUrls} provider={provider} url={ownTokens.url} />
          </div>
        </details>
      )}
    </li>
  );
}

/** What the operator does at the provider. */
function SetUp({ provider: { name, scopes, setUp } }: { provider: AccountProviderInfo }) {
  return (
    <div className="space-y-3">
      <ol className="list-decimal space-y-2 pl-5">
        <li className="wrap-anywhere">
          {setUp.steps}{" "}
          {setUp.url !== null && (
            <a href={setUp.url} rel="noreferrer" target="_blank">
              Open {name}
            </a>
          )}
        </li>
        <li>
          <span className="mb-1 block">As the redirect URL, enter:</span>
          <CopyField label={`Redirect URL for ${name}`} value={setUp.redirectUrl} />
        </li>
        <li className="wrap-anywhere">
          Scopes: <span className="font-mono text-xs">{scopes.join(", ")}</span>
        </li>
        <li className="wrap-anywhere">
          Set{" "}
          {setUp.env.map((key) => (
            <code className="mr-1 font-mono text-xs" key={key}>
              {key}
            </code>
          ))}
          and restart the server.
        </li>
      </ol>
    </div>
  );
}

function OwnToken({
  provider: { providerId, name },
  baseUrls,
  url,
}: {
  provider: AccountProviderInfo;
  baseUrls: readonly string[];
  url: string | null;
}) {
  const client = useQueryClient();
  async function add(fields: FormData): Promise<void> {
    const baseUrl = text(fields, "baseUrl");
    const credentials = { token: secret(fields, "token").trim() };
    const { account } = await take(api.POST("/api/accounts", { body: { providerId, baseUrl, credentials } }));
    toast(`${account.label} is connected`);
    await client.invalidateQueries({ queryKey: accountsQuery.queryKey });
    const returnTo = addressParameter("returnTo");
    if (returnTo !== undefined) window.location.assign(safeReturnTo(returnTo));
  }
  return (
    <Form onSubmit={add} resets submit="Connect with this token" submitKind="plain">
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField choices={baseUrls.map((each) => ({ value: each, label: each }))} label="Instance" name="baseUrl" />
        <TextField
          autoComplete="off"
          hint={
            url === null ? undefined : (
              <>
                Create one at{" "}
                <a href={url} rel="noreferrer" target="_blank">
                  {name}
                </a>
                .
              </>
            )
          }
          label="Token"
          maxLength={8192}
          name="token"
          type="password"
        />
      </div>
    </Form>
  );
}

function hostOf(baseUrl: string | null): string {
  return baseUrl === null ? "" : baseUrl.replace(/^https?:\/\//, "");
}
