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
  /** The instance to which people are sent; undefined while none is configured. */
  place: AccountPlace | undefined;
  /** This server's client there; undefined while the operator has not registered it. */
  client: OAuthClient | undefined;
  /** A separate one for each provider, so that answers of one are never taken for another's. */
  redirectUrl: string;
}

/** A provider to which people are sent. */
export interface ConfiguredProvider extends KnownProvider {
  provider: AccountProvider & { oauth: OAuthSpec };
  place: AccountPlace;
  client: OAuthClient;
}

/** Undefined while the operator has not registered this server there, and for a provider without OAuth. */
export function configured({ provider, place, client, ...rest }: KnownProvider): ConfiguredProvider | undefined {
  const { oauth } = provider;
  return oauth && place && client && { ...rest, provider: { ...provider, oauth }, place, client };
}

export type ProviderBook = ReturnType<typeof makeProviderBook>;

/** The three whose paths the contract fixes; further ones are at `/api/accounts/<provider>`. */
export const FIXED_PROVIDERS = ["github", "google", "slack"] as const;

/** Makes the book of providers from the code and the settings. */
export function makeProviderBook(options: {
  providers: readonly AccountProvider[];
  settings: Readonly<Record<string, AccountSettings>>;
  baseUrl: string;
  /** The operator's instances. */
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
    /** Instances whose users can be members of the workspace, the one of the settings first. Source: S2. */
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
