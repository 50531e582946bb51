import { storedIds } from "#sources/collect.ts";
import { isApiError } from "#api/errors.ts";
import { reportSeen } from "#sources/seen.ts";
import { failedSkip } from "#sources/failures.ts";
import { namelessSkip, NOT_UNDERSTOOD } from "#sources/listed.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { parseId, partId, projectRef } from "./ids.ts";
import type { IssueItems } from "./issue.ts";
import { partsIn } from "./map.ts";
import type { Tools } from "./tools.ts";

/** Returns the stored comments and attachments of an issue, from its stored version if that lists them. */
export async function storedParts({ ctx }: Tools, project: { id: string }, issue: string): Promise<string[]> {
  const version = await ctx.stored.version(issue);
  const reported = version === undefined ? [] : partsIn(issue, version);
  if (reported) return reported;
  return storedIds(ctx, projectRef(project.id), (id) => {
    const parsed = parseId(id);
    return parsed?.issue === issue && parsed.part !== undefined;
  });
}

/**
 * Handles an issue that is refused or fails while others work. Its stored items stay.
 * @throws errors that concern more than this issue
 */
export async function issueNotRead(
  tools: Tools,
  project: { id: string },
  externalId: string,
  error: unknown,
): Promise<Outcome[]> {
  const message = isApiError(error) ? error.message : NOT_UNDERSTOOD;
  const outcome = await tools.failures.outcomeOf(externalId, error, message);
  if (outcome.t === "skip") await tools.unread.note(externalId);
  return [outcome, ...reportSeen(await storedParts(tools, project, externalId))];
}

/** Reports comments of an issue that could not be parsed. The issue's stored parts stay. */
export async function reportOddComments(
  tools: Tools,
  project: { id: string },
  issue: string,
  { items, odd, nameless }: IssueItems,
): Promise<Outcome[]> {
  if (odd.length === 0 && nameless === 0) return [];
  await tools.unread.note(issue);
  const named = new Set(items.map(({ externalId }) => externalId));
  const kept = (await storedParts(tools, project, issue)).filter((id) => !named.has(id));
  const events: Outcome[] = odd.map((id) => failedSkip(partId(issue, "c", id), NOT_UNDERSTOOD));
  if (nameless > 0) events.push(namelessSkip(`comments of ${issue}`, nameless, "comments"));
  return [...events, ...reportSeen(kept)];
}

/** Reports listed issues of a project that could not be parsed. Those that are stored are requested individually. */
export async function reportOdd(
  tools: Tools,
  project: { id: string },
  isReported: (id: string) => boolean,
): Promise<Outcome[]> {
  const { ids, nameless } = tools.client.odd.take();
  const events: Outcome[] = [];
  for (const id of ids) {
    if (isReported(id)) continue;
    await tools.unread.note(id);
    events.push(failedSkip(id, NOT_UNDERSTOOD), ...reportSeen(await storedParts(tools, project, id)));
  }
  if (nameless > 0) events.push(namelessSkip(`project ${project.id}`, nameless, "of its issues"));
  return events;
}
