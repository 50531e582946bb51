import type { AddressGuard } from "#net/address-guard.ts";

/** For tests that speak to nobody: every address is refused. */
export const NO_NETWORK: AddressGuard = {
  async resolve({ host }) {
    throw new Error(`This test has no network, and was asked for ${host}.`);
  },
};
