/**
 * Rules of one kind of app for URLs that people copy, as data. Each pattern matches one host in lower case, or one
 * path.
 */
export interface LinkRules {
  /** Hosts of the app's items. If several items have the same URL, an item of this app comes first. */
  hosts: readonly RegExp[];
  /** Names of URL parameters that don't affect which item a URL names. */
  ignoredParams?: RegExp;
  /** Endings of paths that show another view of the same item, each with the part to keep. */
  tails?: readonly { pattern: RegExp; kept: string }[];
}

/** The rules of a kind of source that kb knows. */
export interface KindLinks extends Partial<LinkRules> {
  providerId: string;
  /**
   * Whether other programs push the items. If several items have the same URL, a pushed item comes last. Source: S41.
   */
  isPushed: boolean;
}
