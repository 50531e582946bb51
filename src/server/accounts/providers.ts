import { defined } from "#core/defined.ts";
import type { AccountPlace, AccountProvider, OAuthClient, OAuthSpec } from "#sources/account-contract.ts";
import { expandTemplate } from "#core/url-template.ts";
import { normalizeBaseUrl } from "#core/base-url.ts";
import type { RegisteredInstance } from "#storage/records/instances.ts";
import type { Store } from "#storage/records/store.ts";
import type { TokenEndpoint } from "./token-endpoint.ts";

/** The settings of a service at which people connect accounts. */
export interface AccountSettings {
  baseUrl?: string;
  apiUrl?: string;
  clientId?: string;
  clientSecret?: string;
}

/** A provider as configured on this server. */
export interface KnownProvider {
  provider: AccountProvider;
  /** The instance to which people are sent; undefined if none is configured. */
  place: AccountPlace | undefined;
  /** This server's OAuth client at the provider; undefined until the operator has registered it. */
  client: OAuthClient | undefined;
  /** The redirect URL. Each provider has its own, so that one provider's response is never taken for another's. */
  redirectUrl: string;
}

/** A provider to which people are sent. */
export interface ConfiguredProvider extends KnownProvider {
  provider: AccountProvider & { oauth: OAuthSpec };
  place: AccountPlace;
  client: OAuthClient;
}

/**
 * Returns the provider if people can be sent to it. Undefined if the operator hasn't registered this server there, or
 * the provider has no OAuth.
 */
export function configured({ provider, place, client, ...rest }: KnownProvider): ConfiguredProvider | undefined {
  const { oauth } = provider;
  return oauth && place && client && { ...rest, provider: { ...provider, oauth }, place, client };
}

export type ProviderBook = ReturnType<typeof makeProviderBook>;

/** The three providers whose paths are fixed in the contract. All others are at `/api/accounts/<provider>`. */
export const FIXED_PROVIDERS = ["github", "google", "slack"] as const;

/** Makes the registry of account providers from the code and the settings. */
export function makeProviderBook(options: {
  providers: readonly AccountProvider[];
  settings: Readonly<Record<string, AccountSettings>>;
  baseUrl: string;
  /** The instances that the operator registered. */
  instances: readonly RegisteredInstance[];
}) {
  const known = options.providers.map((provider): KnownProvider => {
    const own = options.settings[provider.providerId] ?? {};
    const { clientId, clientSecret } = own;
    const isFixed = (FIXED_PROVIDERS as readonly string[]).includes(provider.providerId);
    const path = `/api/${isFixed ? "oauth" : "accounts"}/${provider.providerId}/callback`;
    return {
      provider,
      place: placeFrom(provider, own),
      client: clientId === undefined ? undefined : { clientId, clientSecret },
      redirectUrl: `${options.baseUrl}${path}`,
    };
  });
  const find = (providerId: string) => known.find(({ provider }) => provider.providerId === providerId);
  return {
    list: (): readonly KnownProvider[] => known,
    find,
    /** The place of an instance, by its name in principals. */
    placeOf(provider: AccountProvider, instance: string): AccountPlace {
      const place = find(provider.providerId)?.place;
      if (place && instanceUrlOf(provider, place) === instance) return place;
      if (provider.instance === "apiUrl") {
        const { origin } = new URL(instance);
        return { baseUrl: origin, apiUrl: instance, tokenBase: origin };
      }
      return placeAt(provider, instance);
    },
    /**
     * The instances whose users can be members of the workspace. The instance from the settings comes first.
     * Source: S2.
     */
    instancesOf,
    isRegistered: async (from: Store, workspaceId: string, providerId: string, instance: string): Promise<boolean> =>
      (await instancesOf(from, workspaceId, providerId)).includes(instance),
  };

  async function instancesOf(from: Store, workspaceId: string, providerId: string): Promise<string[]> {
    const { provider, place } = find(providerId) ?? {};
    const all = [...options.instances, ...(await from.in(workspaceId).instances.list())];
    const registered = all.filter((each) => each.providerId === providerId).map(({ baseUrl }) => baseUrl);
    return [...new Set([...(provider && place ? [instanceUrlOf(provider, place)] : []), ...registered])];
  }
}

export function tokenEndpointAt(
  { provider, place, client }: Pick<ConfiguredProvider, "provider" | "place" | "client">,
  now: () => number,
): TokenEndpoint {
  const { tokenUrl, tokensIn } = provider.oauth;
  return { name: provider.name, tokenUrl: urlAt(tokenUrl, place), client, tokensIn, now };
}

/** The name of an instance in principals. */
export function instanceUrlOf({ instance }: AccountProvider, place: AccountPlace): string {
  return normalizeBaseUrl(place[instance]) ?? place[instance];
}

/** Fills in a provider's URL template. */
export function urlAt(template: string, place: AccountPlace): string {
  return expandTemplate(template, { ...place });
}

/** The origins to which an account's tokens may be sent. */
export function originsAt({ origins = [] }: AccountProvider, place: AccountPlace): string[] {
  return [...new Set([place.apiUrl, ...origins.map((each) => urlAt(each, place))].map((url) => new URL(url).origin))];
}

function placeFrom(provider: AccountProvider, { baseUrl, apiUrl }: AccountSettings): AccountPlace | undefined {
  const { usual } = provider;
  if (baseUrl === undefined) return usual && { ...usual, ...defined({ apiUrl }) };
  return { ...placeAt(provider, baseUrl), ...defined({ apiUrl }) };
}

function placeAt({ apiUrl }: AccountProvider, baseUrl: string): AccountPlace {
  return { baseUrl, apiUrl: expandTemplate(apiUrl, { baseUrl }), tokenBase: baseUrl };
}
