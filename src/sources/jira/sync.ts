import type { SyncContext, SyncRequest, What } from "#sources/contract.ts";
import { listingOf } from "#sources/listed.ts";
import { refusalOf } from "#sources/failures.ts";
import { compareIds } from "#sources/atlassian/tell.ts";
import { readChanges } from "./changes.ts";
import type { SearchPlace } from "./client.ts";
import type { JiraConfig } from "./config.ts";
import { projectRef } from "./ids.ts";
import { readItems } from "./items.ts";
import { checkAccess, listProject } from "./listing.ts";
import { nameOf } from "./map.ts";
import { readProjects } from "./projects.ts";
import {
  endProject,
  type Event,
  JiraCursor,
  makeTools,
  MOST_KNOWN,
  oddProject,
  projectNotRead,
  type Tools,
} from "./tools.ts";

export async function* syncIssues(
  ctx: SyncContext<JiraConfig>,
  run: SyncRequest<JiraCursor>,
): AsyncGenerator<Event, void> {
  const tools = await makeTools(ctx, run);
  const cursor = JiraCursor.safeParse(run.cursor).data;
  if (run.mode === "items") yield* readItems(tools);
  else if (run.mode === "incremental" && cursor?.type === "changes") yield* readChanges(tools, cursor.at);
  else yield* listAll(tools, cursor);
}

/** Every project as a whole; in mode `access` only who reads what is there. */
async function* listAll(tools: Tools, cursor: JiraCursor | undefined): AsyncGenerator<Event, void> {
  const { ctx, run, client } = tools;
  const runId = run.runId ?? null;
  // Only an attempt of the same run goes on: the listing of another named what may be gone by now.
  const former = cursor?.type === "listing" && runId !== null && cursor.runId === runId ? cursor : undefined;
  const at = former?.at ?? tools.at;
  const failed = new Set(former?.notLookedAt);
  if (!former) await tools.unread.clear();
  let { after, done } = { after: former?.after ?? null, done: former?.done ?? 0 };
  const position = (project?: { id: string; place: SearchPlace }): JiraCursor => ({
    type: "listing",
    runId,
    at,
    after,
    done,
    notLookedAt: [...failed],
    ...(project && { project }),
  });
  const { projects, odd, isWhole } = await readProjects(client, run.scope);
  for (const project of projects) tools.projects.set(project.id, project);
  for (const id of odd) {
    yield oddProject(tools, id);
    failed.add(id);
  }
  for (const project of projects) {
    ctx.signal.throwIfAborted();
    if (after !== null && compareIds(project.id, after) <= 0) continue;
    const from = former?.project?.id === project.id ? former.project.place : undefined;
    try {
      for await (const page of run.mode === "access"
        ? checkAccess(tools, project)
        : listProject(tools, project, from)) {
        yield* page.events;
        done += page.count;
        yield { t: "progress", done, note: nameOf(project) };
        if (page.next) yield { t: "checkpoint", cursor: position({ id: project.id, place: page.next }) };
      }
      yield* endProject(tools, project);
      tools.failures.well();
    } catch (error) {
      yield await projectNotRead(tools, project, error);
      if (refusalOf(error) === undefined) failed.add(project.id);
    }
    after = project.id;
    yield { t: "checkpoint", cursor: position() };
  }
  if (isWhole) ctx.state.put("projects", [...projects.map(({ id }) => id), ...odd].slice(0, MOST_KNOWN));
  // What was answered to nobody must not pass for everything.
  await client.whoAmI();
  yield { t: "checkpoint", cursor: { type: "changes", at } };
  const places = [...failed].map((id): What => ({ container: projectRef(id) }));
  yield {
    t: "end",
    ...listingOf(isWhole, "Jira's list of projects"),
    permissions: "current",
    ...(places.length > 0 && { notLookedAt: places }),
  };
}
