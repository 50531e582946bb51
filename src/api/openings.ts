import { Timestamp } from "./common.ts";
import { z } from "./route.ts";

const Count = z.number().int().nonnegative();

/** Members, groups, `workspace` and `everyone` by their names; `others` = people and groups of the source, counted. */
export const Opened = z.object({
  named: z.array(z.object({ id: z.string(), name: z.string().nullable() })),
  others: Count,
});
export type Opened = z.infer<typeof Opened>;

/** An act by somebody else than the owner that may let more people read. */
export const Opening = z
  .object({
    at: Timestamp,
    /** Null = somebody who held a key of the connector. */
    by: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
    /** As in the audit. */
    action: z.string().openapi({ example: "group.changed" }),
    /** The connector or group itself, or a group in it. */
    target: z.object({ id: z.string(), name: z.string().nullable() }),
    /** How often on that day; the rest is of the last time. */
    times: Count,
    /** Items that it opened, of an act that names items. */
    items: Count.nullable(),
    /** Who was named before and after; null where only what was added is known. */
    before: Opened.nullable(),
    after: Opened.nullable(),
    added: Opened,
  })
  .openapi("Opening");
export type Opening = z.infer<typeof Opening>;
