import { z } from "zod";
import { ATLASSIAN_FILES, ATLASSIAN_PLACE } from "#sources/atlassian/config.ts";

/** Config of a Jira site. Unknown keys are errors. */
export const JiraConfig = z.strictObject({
  ...ATLASSIAN_PLACE,
  jql: z
    .string()
    .trim()
    .max(4_000)
    .refine((text) => !/\border\s+by\b/i.test(text), "Leave out ORDER BY.")
    .default("")
    .meta({
      title: "Only issues that match (JQL)",
      description: "For example: statusCategory != Done OR updated >= -365d. If empty, kb reads every issue.",
    }),
  ...ATLASSIAN_FILES,
});
export type JiraConfig = z.infer<typeof JiraConfig>;
