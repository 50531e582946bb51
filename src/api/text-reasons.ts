/**
 * Why an item's text can't be searched, or why something isn't an item at all. Separate from the schemas: the CLI
 * starts fast.
 */
export const TEXT_REASONS = [
  "unsupported_type",
  "too_large",
  "empty",
  "encrypted",
  "excluded_by_scope",
  "excluded_by_policy",
  "generated",
  "acl_unknown",
  "over_quota",
  "failed",
] as const;
