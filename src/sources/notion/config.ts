import { z } from "zod";
import { maxFileMb } from "#sources/file-scope/file-size.ts";
import { readersKey } from "#sources/file-scope/readers.ts";

export const NOTION_API = "https://api.notion.com";

/** Config of a Notion workspace. Unknown keys are errors. */
export const NotionConfig = z.strictObject({
  comments: z.boolean().default(true).meta({
    title: "Comments",
    description: "Index open comments on pages. Each full sync requests the comments of every page.",
  }),
  files: z.boolean().default(true).meta({
    title: "Files",
    description: "Index PDF, Office and text files that were uploaded to pages.",
  }),
  readers: readersKey("pages"),
  maxFileMb: maxFileMb("kb leaves out larger files."),
});
export type NotionConfig = z.infer<typeof NotionConfig>;

export const NotionCredentials = z.strictObject({
  token: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{1,500}$/, "Give the internal integration secret, such as ntn_….")
    .meta({
      title: "Integration secret",
      format: "password",
      description:
        "The secret of an internal integration with the capability “Read content”, from notion.so/profile/integrations.",
    }),
});
