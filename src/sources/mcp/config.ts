import { digestOf } from "#sources/digest.ts";
import { z } from "zod";
import { maxFileMb } from "#sources/file-scope/file-size.ts";

/** Config of a connection. Unknown keys are errors. */
export const McpConfig = z.strictObject({
  resources: z.boolean().default(true).meta({
    title: "Resources",
    description: "Read the resources that the server lists, and those of the resource templates that it completes.",
  }),
  tools: z.boolean().default(true).meta({
    title: "Tools",
    description: "Read what the server's tools list, as an admin has mapped them.",
  }),
  maxFileMb: maxFileMb("kb does not read larger resources; you can still find them by name."),
});
export type McpConfig = z.infer<typeof McpConfig>;

/** Returns the part of a config that affects items, which is part of every version. */
export function configKey({ maxFileMb: most }: McpConfig): string {
  return digestOf(most, 8);
}
