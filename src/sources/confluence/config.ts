import { z } from "zod";
import { ATLASSIAN_FILES, ATLASSIAN_PLACE } from "#sources/atlassian/config.ts";

/** Config of a Confluence site. Unknown keys are errors. */
export const ConfluenceConfig = z.strictObject({
  ...ATLASSIAN_PLACE,
  personalSpaces: z.boolean().default(false).meta({
    title: "Personal spaces",
    description:
      "Also read people's personal spaces. Only those who can read a space in Confluence can find its pages.",
  }),
  openFolders: z.boolean().default(false).meta({
    title: "Folders have no restrictions",
    description:
      "Cloud doesn't say who can open a folder, whiteboard or database, so no one can read the pages below one. Turn this on if no one restricts them.",
  }),
  ...ATLASSIAN_FILES,
});
export type ConfluenceConfig = z.infer<typeof ConfluenceConfig>;
