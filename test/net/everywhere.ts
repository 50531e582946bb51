import type { AddressGuard, NetworkTarget, PinnedAddress } from "#net/address-guard.ts";
import type { ConfiguredPlaces } from "#net/configured-places.ts";

/** A person configured every place. */
export const EVERYWHERE: ConfiguredPlaces = Object.assign(new Set<string>(), { has: () => true });

/** A guard of a test, which judges in its own way, without configurations. */
export function guardOf(judge: (target: Omit<NetworkTarget, "configured">) => Promise<PinnedAddress>): AddressGuard {
  return { resolve: judge, resolveConfigured: judge };
}

/** The same guard, for which the servers that are listed stand for hosts of the open internet: whatever names them leads there. */
export function asPublic(guard: AddressGuard): AddressGuard {
  return { ...guard, resolve: (target) => guard.resolve({ ...target, configured: EVERYWHERE }) };
}
