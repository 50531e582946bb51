import { Timestamp } from "./common.ts";
import { z } from "./route.ts";

const Count = z.number().int().nonnegative();

/** Members, groups, `workspace` and `everyone` by name. `others` = the number of people and groups of the source. */
export const Opened = z.object({
  named: z.array(z.object({ id: z.string(), name: z.string().nullable() })),
  others: Count,
});
export type Opened = z.infer<typeof Opened>;

/** An action by someone other than the owner that may give more people access. */
export const Opening = z
  .object({
    at: Timestamp,
    /** Who performed it; null = someone with a key of the connector. */
    by: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
    /** The action's name in the audit. */
    action: z.string().openapi({ example: "group.changed" }),
    /** The connector or group itself, or a group in it. */
    target: z.object({ id: z.string(), name: z.string().nullable() }),
    /** Number of times on that day; the other fields describe the last time. */
    times: Count,
    /** Number of items that got more readers, for actions that name items. */
    items: Count.nullable(),
    /** The readers before and after; null if only the additions are known. */
    before: Opened.nullable(),
    after: Opened.nullable(),
    added: Opened,
  })
  .openapi("Opening");
export type Opening = z.infer<typeof Opening>;
