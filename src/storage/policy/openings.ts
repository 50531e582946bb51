import { isRecord } from "#core/json-record.ts";
import type { Opening, Opened } from "#api/openings.ts";
import { MAX_CHARS, cleanLine } from "#api/clean.ts";
import { isoOf } from "#core/instant.ts";
import type { AuditRecord } from "#storage/audit-chain.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/** Actions that may give more people access. */
const ACTIONS = ["connector.changed", "connector.access_pushed", "connector.people_pushed", "group.changed"];
const SHOWN = 20;
const SINCE_MS = 90 * 86_400_000;
/** Rows read at a time; most actions on a connector give no one access. */
const PAGE = 200;
const MAX_PAGES = 10;
/** Limit of nested groups whose changes are included. */
const MAX_GROUPS = 100;

type Workspace = Pick<WorkspaceStore, "audit" | "access" | "names">;

/**
 * Lists the actions by which people other than its owner gave others access to a connector or a group: changing it,
 * using one of its keys, or changing a group in it. Newest first, at most 20 of the last 90 days. Only its owner may
 * see them; the caller checks that.
 *
 * @param inside the groups that have access to it, or that are in it
 */
export async function listOpenings(
  workspace: Workspace,
  { id, ownerId, inside }: { id: string; ownerId: string; inside: readonly string[] },
  now: number,
): Promise<Opening[]> {
  const targetIds = [id, ...(await groupsBelow(workspace, inside))];
  const grouped = new Map<string, { row: AuditRecord; times: number }>();
  let before: number | undefined;
  for (let page = 0; page < MAX_PAGES && grouped.size <= SHOWN; page++) {
    const since = now - SINCE_MS;
    const cursor = before === undefined ? {} : { before };
    const rows = await workspace.audit.listByTarget(targetIds, { actions: ACTIONS, since, limit: PAGE, ...cursor });
    for (const row of rows) {
      if (row.details["isWidened"] !== true || row.actorUserId === ownerId) continue;
      // A program may push all day, so the same action by the same person or key has one entry per day.
      const { actorUserId, action, targetId, details } = row;
      const key = [isoOf(row.at).slice(0, 10), actorUserId, action, targetId, details["keyId"]].join(" ");
      const known = grouped.get(key);
      if (known) known.times++;
      else grouped.set(key, { row, times: 1 });
    }
    before = rows.at(-1)?.seq;
    if (rows.length < PAGE) break;
  }
  const shown = [...grouped.values()].slice(0, SHOWN).map((each) => ({ ...each, who: readersOf(each.row) }));
  const named = shown.flatMap(({ row, who }) => [
    row.actorUserId ?? "",
    row.targetId,
    ...[who.before, who.after, who.added].flatMap((readers) => readers?.principals.map(idOf) ?? []),
  ]);
  const names = await workspace.names.of(named.filter((id) => id !== ""));
  const nameOf = (id: string): string | null => {
    const name = names.get(id);
    return name === undefined ? null : cleanLine(name, MAX_CHARS.title);
  };
  return shown.map(({ row, times, who }) => ({
    at: isoOf(row.at),
    by: row.actorUserId === null ? null : { id: row.actorUserId, name: nameOf(row.actorUserId) },
    action: row.action,
    target: { id: row.targetId, name: nameOf(row.targetId) },
    times,
    items: numberIn(row.details, "widened"),
    before: toOpened(who.before, nameOf),
    after: toOpened(who.after, nameOf),
    added: toOpened(who.added, nameOf) ?? { named: [], others: 0 },
  }));
}

/** Returns these groups and all groups nested in them; only the first 100 if there are more. */
async function groupsBelow({ access }: Workspace, groupIds: readonly string[]): Promise<string[]> {
  const found = new Set(groupIds.slice(0, MAX_GROUPS));
  for (const groupId of found) {
    for (const member of await access.membersOf(`group:${groupId}`)) {
      if (member.startsWith("group:grp_") && found.size < MAX_GROUPS) found.add(idOf(member));
    }
  }
  return [...found];
}

interface Readers {
  principals: readonly string[];
  others: number;
}

/** Returns the readers that the row names before and after the action. */
function readersOf({ details }: AuditRecord): Record<"before" | "after" | "added", Readers | undefined> {
  const [before, after] = [readersIn(details["before"]), readersIn(details["after"])];
  const addedReaders = details["added"];
  if (isRecord(addedReaders)) {
    const principals = stringsIn(addedReaders["ids"]);
    const others = Math.max(0, (numberIn(addedReaders, "count") ?? 0) - principals.length);
    return { before, after, added: { principals, others } };
  }
  const wasNamed = new Set(before?.principals);
  const principals = after?.principals.filter((name) => !wasNamed.has(name)) ?? [];
  return { before, after, added: { principals, others: Math.max(0, (after?.others ?? 0) - (before?.others ?? 0)) } };
}

function readersIn(value: unknown): Readers | undefined {
  if (!isRecord(value)) return undefined;
  return { principals: stringsIn(value["principals"]), others: numberIn(value, "others") ?? 0 };
}

function toOpened(readers: Readers | undefined, nameOf: (id: string) => string | null): Opened | null {
  if (readers === undefined) return null;
  const { principals, others } = readers;
  return { named: principals.map((principal) => ({ id: idOf(principal), name: nameOf(idOf(principal)) })), others };
}

/** Returns `usr_…` for `user:usr_…`; `workspace` and `everyone` stay as they are. */
function idOf(principal: string): string {
  return principal.slice(principal.indexOf(":") + 1);
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function numberIn(value: Record<string, unknown>, name: string): number | null {
  const found = value[name];
  return typeof found === "number" ? found : null;
}
