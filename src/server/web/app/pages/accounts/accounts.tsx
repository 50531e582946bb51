import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Account, AccountProviderInfo } from "#api/accounts.ts";
import { safeReturnTo } from "#api/return-to.ts";
import { accountNotice } from "./account-words.ts";
import { addressParameter } from "#server/web/app/data/browser.ts";
import { api } from "#server/web/app/data/client.ts";
import { leaveFor } from "#server/web/app/data/leave.ts";
import { accountsQuery } from "#server/web/app/data/queries.ts";
import { useLinkToken } from "#server/web/app/data/link-token.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { useSession } from "#server/web/app/shell/session.ts";
import { useAct } from "#server/web/app/ui/act.ts";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Rows } from "#server/web/app/ui/rows.tsx";
import { AccountRow } from "./account-row.tsx";
import { hostOf, useDeparture } from "./departure.ts";
import { OwnToken } from "./own-token.tsx";
import { canConnect, ProviderRow, SetUp } from "./providers.tsx";

/** The person's accounts at other services. Connecting an account starts and ends here. */
export function Page() {
  const accounts = useQuery(accountsQuery);
  const found = useLinkToken();
  const [wanted, setWanted] = useState(addressParameter("connect"));
  const asked = (providers: readonly AccountProviderInfo[]) =>
    providers.filter(({ providerId }) => found === undefined && providerId === wanted);
  const notice = accountNotice(addressParameter("account"), addressParameter("reason"));
  return (
    <PageFrame
      lead="Connect your account at another service. You can then find what you can read there, and your connectors can use the account."
      title="Accounts"
    >
      {notice && <Notice tone={notice.tone}>{notice.text}</Notice>}
      {found && <FoundCard id={found} key={found} />}
      <Loaded query={accounts}>
        {({ accounts, providers }) => (
          <>
            {asked(providers).map((provider) => (
              <ConnectCard key={provider.providerId} onCancel={() => setWanted(undefined)} provider={provider} />
            ))}
            {/* While a question waits for an answer, nothing else is shown. */}
            {found === undefined && asked(providers).length === 0 && (
              <Lists accounts={accounts} onConnect={setWanted} providers={providers} />
            )}
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Lists({
  accounts,
  providers,
  onConnect,
}: {
  accounts: readonly Account[];
  providers: readonly AccountProviderInfo[];
  onConnect(providerId: string): void;
}) {
  return (
    <>
      <Section title="Your accounts">
        {accounts.length === 0 ? (
          <EmptyState icon="person" title="No accounts yet">
            Choose a service below to connect one.
          </EmptyState>
        ) : (
          <Rows>
            {accounts.map((account) => (
              <AccountRow
                account={account}
                key={account.id}
                provider={providers.find(({ providerId }) => providerId === account.providerId)}
              />
            ))}
          </Rows>
        )}
      </Section>
      <Section title="Services">
        <Rows>
          {providers.toSorted(byUse).map((provider) => (
            <ProviderRow
              key={provider.providerId}
              onConnect={() => onConnect(provider.providerId)}
              provider={provider}
            />
          ))}
        </Rows>
      </Section>
    </>
  );
}

/** Sorts the providers so that those where people can connect come first. */
function byUse(one: AccountProviderInfo, other: AccountProviderInfo): number {
  return Number(canConnect(other)) - Number(canConnect(one));
}

/** Shows what will be connected, for whom and where, before the browser leaves or a token is entered. */
function ConnectCard({ provider, onCancel }: { provider: AccountProviderInfo; onCancel: () => void }) {
  const { name, configured, setUp, ownTokens } = provider;
  const returnTo = addressParameter("returnTo");
  const card = useRef<HTMLDivElement>(null);
  // The card is above the list that opened it.
  useEffect(() => card.current?.focus(), []);
  return (
    <div className="outline-none" ref={card} tabIndex={-1}>
      {configured ? (
        <Section title={`Connect ${name}?`}>
          <ConnectThere onCancel={onCancel} provider={provider} />
        </Section>
      ) : (
        <Section title={`Connect ${name}`}>
          {/* A person's own token works without the server's operator. */}
          {setUp === null || (ownTokens?.instances ?? []).length > 0 ? (
            <div className="space-y-3">
              <Meaning provider={provider} />
              <OwnToken onDone={onCancel} provider={provider} />
            </div>
          ) : (
            <div className="space-y-4">
              <SetUp provider={provider} setUp={setUp} />
              <Button
                onClick={() => (returnTo === undefined ? onCancel() : window.location.assign(safeReturnTo(returnTo)))}
              >
                Back
              </Button>
            </div>
          )}
        </Section>
      )}
    </div>
  );
}

function ConnectThere({ provider, onCancel }: { provider: AccountProviderInfo; onCancel: () => void }) {
  const { name, providerId, scopes } = provider;
  const { problem, isBusy, run } = useDeparture(providerId);
  return (
    <div className="space-y-3">
      <Meaning provider={provider} />
      <ul className="text-muted list-disc space-y-1 pl-5">
        <li>You can find what your user there can read, in every connector for {name} in this workspace.</li>
        <li>Connectors that you create can use this account. No one else can use it.</li>
        <li className="wrap-anywhere">
          kb asks for: <span className="font-mono text-xs">{scopes.join(", ")}</span>
        </li>
      </ul>
      <ProblemNotice problem={problem} />
      <div className="flex flex-wrap gap-2">
        <Button isBusy={isBusy} kind="primary" onClick={run}>
          Continue to {name}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}

/** Explains which account is connected to which person. */
function Meaning({ provider: { name, baseUrl, setUp } }: { provider: AccountProviderInfo }) {
  const { user, workspace } = useSession();
  return (
    <p className="max-w-prose wrap-anywhere">
      You connect your account at <strong>{baseUrl === null ? name : hostOf(baseUrl)}</strong> as{" "}
      <strong>{user.email}</strong> in the workspace <strong>{workspace.name}</strong>
      {setUp === null ? ", and find what your user there can read." : "."}
    </p>
  );
}

/** The account that was found at the provider. It is stored only when the person confirms that it is theirs. */
function FoundCard({ id }: { id: string }) {
  const { user, workspace } = useSession();
  const query = useQuery({
    queryKey: ["account-found", id],
    queryFn: () => api.post("/api/accounts/found", { body: { id } }),
    staleTime: Infinity,
    retry: false,
  });
  const { run, isBusy, problem } = useAct(
    (isAccepted: boolean) => api.post("/api/accounts/confirm", { body: { id, isAccepted } }),
    { invalidates: ["accounts"], onDone: ({ returnTo }) => leaveFor(returnTo) },
  );
  return (
    <Section title="Is this your account?">
      <Loaded lines={2} query={query}>
        {({ found }) => (
          <div className="space-y-3">
            <p className="max-w-prose wrap-anywhere">
              <strong>{found.label}</strong> at {found.providerName} ({hostOf(found.baseUrl)}) will be connected to{" "}
              <strong>{user.email}</strong> in the workspace <strong>{workspace.name}</strong>.
            </p>
            <ProblemNotice problem={problem} />
            <div className="flex flex-wrap gap-2">
              <Button isBusy={isBusy} kind="primary" onClick={() => run(true)}>
                Connect {found.login ?? found.label}
              </Button>
              <Button disabled={isBusy} onClick={() => run(false)}>
                That’s not me
              </Button>
            </div>
          </div>
        )}
      </Loaded>
    </Section>
  );
}
