/** Where a connection is wanted, as somebody wrote it. */
export interface NetworkTarget {
  /** A name, or an address in any spelling; IPv6 with or without brackets. */
  host: string;
  port: number;
  /** The ports that need no permission of the operator; 80 and 443 unless told. */
  usualPorts?: readonly number[];
  /** For a connector or server that an admin made: the operator's list of private hosts counts. */
  isAdminMade: boolean;
}

/** An address that was judged. The connection goes to it and asks no resolver again. */
export interface PinnedAddress {
  /** The host in one spelling: lower case, no trailing dot, no brackets. */
  host: string;
  port: number;
  address: string;
  family: 4 | 6;
  /** True when the operator has listed this host and port. */
  isListed: boolean;
}

/** Judges where connections may go. */
export interface AddressGuard {
  /**
   * Resolves once and judges every address that comes.
   *
   * @throws ApiError `address_not_allowed` when one of them is not public and not allowed, or the port is not;
   *   `source_unavailable` when the name has no address
   */
  resolve(target: NetworkTarget): Promise<PinnedAddress>;
}
