import { listingOf } from "#sources/listed.ts";
import type { SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import { readChanges } from "./changes.ts";
import type { JiraConfig } from "./config.ts";
import { readItems } from "./items.ts";
import { readProject } from "./listing.ts";
import { readProjects } from "./projects.ts";
import { JiraCheckpoint, JiraCursor, makeTools, type Tools } from "./tools.ts";

export const jiraSessions: SessionSpec<JiraConfig, JiraCursor, JiraCheckpoint> = {
  cursor: JiraCursor,
  checkpoint: JiraCheckpoint,
  async open(ctx, run) {
    const tools = await makeTools(ctx, run);
    return { walk: (request) => walk(tools, request), read: (ids) => readItems(tools, ids) };
  },
};

async function* walk(
  tools: Tools,
  { since, resume }: WalkRequest<JiraCursor, JiraCheckpoint>,
): AsyncGenerator<WalkEvent<JiraCheckpoint>, WalkEnd<JiraCursor>> {
  const { client, containers, scope, unread } = tools;
  const place = resume ?? { feed: { at: tools.at }, after: "" };
  const list = await readProjects(client, scope);
  for (const project of list.known) tools.projects.set(project.id, project);
  yield* containers.odd(list);
  if (since) {
    yield* readChanges(tools, list, place, since.at);
    // Of more than can be noted, the last day is read again.
    const at = unread.isFull() ? Math.max(since.at, place.feed.at - DAY_MS) : place.feed.at;
    return { complete: false, cursor: { at }, permissions: "not_checked" };
  }
  await unread.beginListing({ isResumed: resume !== undefined });
  yield* containers.walk(list.known, place, (project, at) => readProject(tools, project, at));
  await containers.keep(list);
  await unread.endListing();
  // What was answered to nobody must not pass for everything.
  await client.whoAmI();
  const { listing, ...why } = listingOf(list.isWhole, "Jira's list of projects");
  return { complete: listing === "complete", ...why, cursor: place.feed, permissions: "current" };
}

const DAY_MS = 86_400_000;
