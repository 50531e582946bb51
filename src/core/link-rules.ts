/** What a kind of app says of addresses that people copy, as data. Patterns are of one host in lower case, or of one path. */
export interface LinkRules {
  /** Hosts where its items are: of several items with one address, its own comes first. */
  hosts: readonly RegExp[];
  /** Names of parameters that say nothing about which item it is. */
  ignoredParams?: RegExp;
  /** Ends of paths that show another side of the same item, each with what stays. */
  tails?: readonly { pattern: RegExp; kept: string }[];
}

/** The same of a kind that is known here. */
export interface KindLinks extends Partial<LinkRules> {
  providerId: string;
  /** Others tell what it has: of several items with one address, it comes last. Source: S41. */
  isPushed: boolean;
}
