/** A kind of app's rules for URLs that people copy, as data. Patterns match one host in lower case, or one path. */
export interface LinkRules {
  /** Hosts of its items: if several items have one URL, an item of its own comes first. */
  hosts: readonly RegExp[];
  /** Names of parameters that don't affect which item it is. */
  ignoredParams?: RegExp;
  /** Ends of paths that show another view of the same item, each with the part that stays. */
  tails?: readonly { pattern: RegExp; kept: string }[];
}

/** The same for a kind that is known here. */
export interface KindLinks extends Partial<LinkRules> {
  providerId: string;
  /** Other programs push its items: if several items have one URL, it comes last. Source: S41. */
  isPushed: boolean;
}
