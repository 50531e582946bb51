import { z } from "zod";
import { atlassianSessions } from "#sources/atlassian/sessions.ts";
import { readUpdated } from "./changes.ts";
import { projectRef } from "./ids.ts";
import { readItems } from "./items.ts";
import { readProject } from "./listing.ts";
import { readProjects } from "./projects.ts";
import { makeTools } from "./tools.ts";

export const jiraSessions = atlassianSessions({
  at: z.union([z.object({ token: z.string() }), z.object({ startAt: z.number(), total: z.number().optional() })]),
  listName: "Jira's list of projects",
  refOf: projectRef,
  makeTools,
  list: ({ client, scope }) => readProjects(client, scope),
  readWhole: readProject,
  readUpdated,
  readItems,
});
