import { z } from "zod";
import type { Source } from "#sources/contract.ts";
import { FILE_CHOICES } from "#sources/file-scope/config.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";

/** An admin's config of a push connector. Unknown keys are errors. */
export const PushConfig = z.strictObject({
  source: z.string().trim().min(1).max(120).optional().meta({
    title: "Place",
    description: 'What follows "push:" in the source of the items, unless a line sets its own source.',
  }),
  ...FILE_CHOICES,
});
export type PushConfig = z.infer<typeof PushConfig>;

/**
 * Makes the source for items that the customer's own program sends with the connector's key. Nothing is fetched, so
 * there is no sync.
 */
export function makePushSource(): Source<PushConfig> {
  return {
    spec: {
      providerId: "push",
      name: "Push",
      kinds: ["task", "file", "page", "message"],
      auth: [{ type: "key" }],
      config: PushConfig,
      acl: "per_item",
    },
    check: async () => ({ ok: true }),
    childRules: makeChildRules,
  };
}
