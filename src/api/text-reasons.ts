/** Why an item's text can't be searched, or why a file isn't an item at all. The list is separate from the schemas, so that the CLI starts fast. */
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
