import { storedIds } from "#sources/collect.ts";
import type { SourceItem } from "#sources/item.ts";
import { failedStatus } from "#sources/failures.ts";
import { accessKeyOf } from "#core/access-key.ts";
import type { ContainerEvent, ContainerPage } from "#sources/containers.ts";
import { reportSeen } from "#sources/seen.ts";
import { judgedEntryOf, type PageEntry } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { accessFields, accessOf } from "./access.ts";
import type { SearchPlace } from "./client.ts";
import { parseId, projectRef } from "./ids.ts";
import { fieldsOf, isHere, narrowed, readIssue, readWhole } from "./issue.ts";
import { nameOf } from "./map.ts";
import { missingFrom, reportLeftOut } from "./left-out.ts";
import { issueNotRead, reportOdd, reportOddComments } from "./parts.ts";
import type { IssueRecord, ProjectRecord } from "./records.ts";
import type { Tools } from "./tools.ts";

type Listed = ContainerPage<SearchPlace>;

/**
 * Reads every issue of a project, or in mode `access` only the readers of existing issues. At the end it checks that
 * the account is still signed in.
 */
export async function* readProject(
  tools: Tools,
  project: ProjectRecord,
  at?: SearchPlace,
): AsyncGenerator<ContainerEvent<SearchPlace>, void> {
  yield* tools.mode === "access" ? checkAccess(tools, project) : listProject(tools, project, at);
  await tools.client.whoAmI();
  yield { t: "listed", container: projectRef(project.id) };
  await tools.containers.isRead(project);
}

/** Reads every issue of a project with its parts, starting from the position where an earlier attempt ended. */
async function* listProject(tools: Tools, project: ProjectRecord, from?: SearchPlace): AsyncGenerator<Listed, void> {
  const rules = await tools.rules.rulesOf(project);
  const named = new Set<string>();
  tools.client.odd.take();
  for await (const { issues, next } of pagesOf(tools, project, fieldsOf(rules), from)) {
    // The configured JQL may match other issues, but only issues of this project are read.
    const here = issues.filter((issue) => isHere(project, issue));
    for (const { id } of here) named.add(id);
    const { items, outcomes } = await readIssues(tools, project, here);
    yield { t: "page", entries: [...outcomes, ...items.map(judgedEntryOf)], at: next, note: nameOf(project) };
  }
  // An earlier attempt named these issues.
  if (from) {
    for await (const { issues } of pagesOf(tools, project, ["project"])) for (const { id } of issues) named.add(id);
  }
  yield* reportMissing(tools, project, named);
}

/** Requests stored issues that were not named, and reports listed issues that could not be parsed. */
async function* reportMissing(
  tools: Tools,
  project: ProjectRecord,
  named: ReadonlySet<string>,
): AsyncGenerator<Listed, void> {
  const missing = new Set(await missingFrom(tools, project, named));
  for await (const { events } of reportLeftOut(tools, project, [...missing])) yield { t: "page", entries: events };
  yield { t: "page", entries: await reportOdd(tools, project, (id) => named.has(id) || missing.has(id)) };
}

/**
 * Returns the items of these issues, and the events for issues that can't be read. `isWhole` = the issues have no other
 * parts.
 */
export async function readIssues(
  tools: Tools,
  project: ProjectRecord,
  issues: readonly IssueRecord[],
): Promise<{ items: SourceItem[]; outcomes: Outcome[]; isWhole: boolean }> {
  const items: SourceItem[] = [];
  const outcomes: Outcome[] = [];
  for (const issue of issues) {
    tools.ctx.signal.throwIfAborted();
    try {
      const read = await readIssue(tools, project, issue);
      items.push(...read.items);
      outcomes.push(...(await reportOddComments(tools, project, issue.id, read)));
      tools.failures.well();
    } catch (error) {
      outcomes.push(...(await issueNotRead(tools, project, issue.id, error)));
    }
  }
  return { items, outcomes, isWhole: outcomes.length === 0 };
}

async function* pagesOf(tools: Tools, project: ProjectRecord, fields: readonly string[], from?: SearchPlace) {
  const jql = `${narrowed(tools, `project = ${project.id}`)} ORDER BY key ASC`;
  let hasPage = false;
  try {
    for await (const page of tools.client.search(jql, fields, from)) {
      hasPage = true;
      yield page;
    }
  } catch (error) {
    // The position is too old, so the listing starts from the beginning.
    const isOld = from && !hasPage && failedStatus(error) === 400;
    if (!isOld) throw error;
    yield* tools.client.search(jql, fields);
  }
}

/**
 * Reports the present readers of a project's issues without reading the issues. Stored issues that still exist are
 * named, and missing ones aren't. An issue that moved here, and isn't stored in this project yet, is read.
 */
async function* checkAccess(tools: Tools, project: ProjectRecord): AsyncGenerator<Listed, void> {
  const { ctx, rules, mapping } = tools;
  const facts = await rules.rulesOf(project);
  const living = new Set<string>();
  tools.client.odd.take();
  const stored = new Set(await storedIds(ctx, projectRef(project.id)));
  for await (const { issues } of pagesOf(tools, project, accessFields(facts))) {
    const entries: PageEntry[] = [];
    const same: string[] = [];
    for (const issue of issues) {
      if (!isHere(project, issue)) continue;
      living.add(issue.id);
      if (!stored.has(issue.id)) {
        entries.push(...(await readNew(tools, project, issue.id)));
        continue;
      }
      const access = accessOf(issue, facts, mapping);
      if ((await ctx.stored.accessKey(issue.id)) === accessKeyOf(access)) same.push(issue.id);
      else entries.push({ t: "access", externalId: issue.id, access });
    }
    yield { t: "page", entries: [...entries, ...reportSeen(same)], note: nameOf(project) };
  }
  yield* reportMissing(tools, project, living);
  const parts = [...stored].filter((externalId) => {
    const { issue, part } = parseId(externalId) ?? {};
    return part !== undefined && issue !== undefined && living.has(issue);
  });
  yield { t: "page", entries: reportSeen(parts) };
}

async function readNew(tools: Tools, project: ProjectRecord, id: string): Promise<PageEntry[]> {
  try {
    const read = await readWhole(tools, project, id);
    const odd = await reportOddComments(tools, project, id, read);
    return [...odd, ...read.items.map(judgedEntryOf)];
  } catch (error) {
    return issueNotRead(tools, project, id, error);
  }
}
