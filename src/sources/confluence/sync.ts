import { z } from "zod";
import { atlassianSessions } from "#sources/atlassian/sessions.ts";
import { readUpdated } from "./changes.ts";
import { spaceRef } from "./ids.ts";
import { readItems } from "./items.ts";
import { listSpace } from "./listing.ts";
import { spacesOf } from "./spaces.ts";
import { makeTools } from "./tools.ts";

export const confluenceSessions = atlassianSessions({
  // Position: the pages of the current space up to this id were read.
  at: z.string(),
  listName: "Confluence's list of spaces",
  refOf: spaceRef,
  makeTools,
  list: ({ client, ctx, scope }) => spacesOf(client, ctx.config, scope),
  readWhole: listSpace,
  readUpdated,
  readItems,
});
