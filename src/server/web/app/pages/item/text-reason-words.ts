import type { TextReason } from "#api/common.ts";

/** Why an item has no searchable text. */
export const TEXT_REASON_WORDS: Readonly<Record<TextReason, string>> = {
  unsupported_type: "kb doesn't read text from this type of file",
  too_large: "This file is too large to read",
  empty: "This item has no text",
  encrypted: "This file is encrypted",
  excluded_by_scope: "The connector's scope excludes this item's text",
  excluded_by_policy: "The workspace's settings exclude this item's text",
  acl_unknown: "kb doesn't know who can read this item yet",
  generated: "kb doesn't read generated files",
  over_quota: "The workspace has reached its text limit",
  failed: "kb couldn't read this item's text",
};

/** Why a sync skipped items, shown before their number. */
export const LEFT_OUT_WORDS: Readonly<Record<string, string>> = {
  unsupported_type: "Not read as text",
  too_large: "Too large",
  encrypted: "Encrypted",
  excluded_by_scope: "Outside the scope",
  excluded_by_policy: "Never read",
  generated: "Generated",
  over_quota: "Over the workspace's limit",
  failed: "Failed",
};
