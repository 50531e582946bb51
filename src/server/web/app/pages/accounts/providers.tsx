import type { AccountProviderInfo } from "#api/accounts.ts";
import { Button } from "#server/web/app/ui/button.tsx";
import { CodeBlock, CopyField } from "#server/web/app/ui/copy-field.tsx";
import { hostOf } from "./departure.ts";
import { OwnToken, RegisterFirst } from "./own-token.tsx";

/** A service, and how people connect to it. */
export function ProviderRow({ provider, onConnect }: { provider: AccountProviderInfo; onConnect: () => void }) {
  const { name, configured, ownTokens, setUp } = provider;
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <p className="font-medium">{name}</p>
          <p className="text-muted wrap-anywhere">{placesOf(provider) ?? <RegisterFirst name={name} />}</p>
        </div>
        {canConnect(provider) && (
          <Button aria-label={`Connect ${name}`} onClick={onConnect}>
            Connect
          </Button>
        )}
      </div>
      {!configured && setUp !== null && (
        <details className="mt-2">
          <summary className="text-accent cursor-pointer">Set up {name}</summary>
          <div className="mt-3">
            <SetUp provider={provider} setUp={setUp} />
          </div>
        </details>
      )}
      {setUp && ownTokens !== null && ownTokens.instances.length > 0 && (
        <details className="mt-2">
          <summary className="text-accent cursor-pointer">Use a token from {name}</summary>
          <div className="mt-3">
            <OwnToken provider={provider} />
          </div>
        </details>
      )}
    </li>
  );
}

/** Whether the person can connect without help from someone else. */
export function canConnect({ configured, ownTokens, setUp }: AccountProviderInfo): boolean {
  return configured || (setUp === null && ownTokens !== null && ownTokens.instances.length > 0);
}

/** Returns the places where people connect; undefined until an instance is registered. */
function placesOf({ baseUrl, configured, ownTokens, setUp }: AccountProviderInfo): string | undefined {
  if (configured) return hostOf(baseUrl);
  if (setUp !== null) return "Not set up on this server";
  const hosts = (ownTokens?.instances ?? []).map((each) => hostOf(each.baseUrl));
  return hosts.length === 0 ? undefined : hosts.join(", ");
}

/** Setup steps that the operator follows at the provider. */
export function SetUp({
  provider: { name, scopes },
  setUp,
}: {
  provider: AccountProviderInfo;
  setUp: NonNullable<AccountProviderInfo["setUp"]>;
}) {
  return (
    <div className="space-y-3">
      <p>
        {name} isn't set up on this server yet. The person who runs the server does this once, and everyone in its
        workspaces can connect their account.
      </p>
      <ol className="list-decimal space-y-3 pl-5">
        <li className="wrap-anywhere">
          {setUp.steps}{" "}
          {setUp.url && (
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
          If {name} asks for scopes, allow these: <span className="font-mono text-xs">{scopes.join(", ")}</span>
        </li>
        <li>
          <CodeBlock label={`Settings for ${name}`} value={setUp.env.map((key) => `${key}=`).join("\n")}>
            Give the server these settings with what {name} shows, and restart it
          </CodeBlock>
        </li>
      </ol>
    </div>
  );
}
