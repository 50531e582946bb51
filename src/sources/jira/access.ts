import type { Principal, SourceAccess } from "#core/principals.ts";
import type { CommentRecord, IssueRecord, ProjectRecord } from "./records.ts";
import type { Names } from "#sources/atlassian/names.ts";
import { type Grant, groupIds, namedBy, SIGNED_IN } from "./readers.ts";

/**
 * The rules that decide, together with the project's groups, who can read the issues of a project. Undefined = this
 * credential can't see the rule.
 */
export interface ProjectRules {
  project: ProjectRecord;
  browse: Grant | undefined;
  /** Whether the project has security levels. */
  hasLevels: boolean | undefined;
  /** The grants of each level. Data Center doesn't report them. */
  levels: ReadonlyMap<string, Grant>;
  /** The role ids, by name. */
  roles: ReadonlyMap<string, string> | undefined;
}

export interface Naming {
  names: Names;
  cloud: boolean;
}

const NOBODY: SourceAccess = { known: false };

/**
 * Returns the readers of an issue: people who may browse its project AND are in its security level. Both conditions are
 * groups of the project, together with the people whom the issue itself names. A rule that can't be parsed admits no
 * readers.
 */
export function accessOf({ fields }: Pick<IssueRecord, "fields">, rules: ProjectRules, naming: Naming): SourceAccess {
  const { project, browse, levels, hasLevels } = rules;
  const level = levelOf(fields.security, hasLevels);
  if (level === "unknown" || isRestricted(fields.issuerestriction, project)) return NOBODY;
  const listOf = (id: string, grant: Grant | undefined): Principal[] | undefined => {
    const group = naming.names.group(id);
    if (group === undefined) return undefined;
    return [...new Set([group, ...(grant ? namedBy(grant, fields, naming) : [])])].sort();
  };
  const lists = [
    listOf(groupIds.browse(project.id), browse),
    ...(level === undefined ? [] : [listOf(groupIds.level(project.id, level), levels.get(level))]),
  ];
  const all = lists.filter((list) => list !== undefined);
  return all.length === lists.length ? { known: true, all } : NOBODY;
}

/** Returns the security level of an issue; undefined if it has none. */
function levelOf(security: unknown, hasLevels: boolean | undefined): string | undefined {
  if (security === null) return undefined;
  // A project without levels has no such field. In a project with levels, a missing field proves nothing.
  if (security === undefined) return hasLevels === false ? undefined : "unknown";
  const id: unknown = typeof security === "object" && "id" in security ? security.id : undefined;
  const text = typeof id === "number" ? String(id) : id;
  return typeof text === "string" && /^\d{1,19}$/.test(text) ? text : "unknown";
}

/**
 * Whether an issue of a team-managed project is restricted to some roles. The API doesn't return these roles, so no one
 * can read the issue here.
 */
function isRestricted(restriction: unknown, { simplified }: ProjectRecord): boolean {
  if (restriction === undefined || restriction === null) return simplified === true;
  if (typeof restriction !== "object" || !("issuerestrictions" in restriction)) return true;
  const { issuerestrictions: some } = restriction;
  return typeof some !== "object" || some === null || Object.keys(some).length > 0;
}

/** Returns the readers of a comment, among those of its issue; undefined if all of them can read it. */
export function accessOfComment(
  { visibility, jsdPublic }: CommentRecord,
  { project, roles }: ProjectRules,
  { names, cloud }: Naming,
): SourceAccess | undefined {
  // In a listing, Data Center doesn't report whether a comment is internal, so each comment is treated as internal.
  const isInternal = jsdPublic === false || (jsdPublic === undefined && project.projectTypeKey === "service_desk");
  const ids: (string | undefined)[] = isInternal ? [SIGNED_IN] : [];
  if (visibility) {
    const { type, value, identifier } = visibility;
    const roleId = type === "role" ? roles?.get(value ?? identifier ?? "") : undefined;
    const group = type === "group" ? (cloud ? identifier : value) : undefined;
    ids.push(
      roleId !== undefined
        ? groupIds.role(project.id, roleId)
        : group !== undefined && group !== ""
          ? groupIds.group({ id: group })
          : undefined,
    );
  }
  if (ids.length === 0) return undefined;
  const groups = ids.map((id) => (id === undefined ? undefined : names.group(id)));
  return groups.includes(undefined)
    ? NOBODY
    : { known: true, all: groups.flatMap((group) => (group === undefined ? [] : [[group]])) };
}

/** Returns the fields of an issue that decide who can read it. */
export function accessFields({ browse, levels }: Pick<ProjectRules, "browse" | "levels">): string[] {
  const grants = [...(browse ? [browse] : []), ...levels.values()];
  const named = grants.flatMap(({ userFields, groupFields }) => [...userFields, ...groupFields]);
  return [...new Set(["project", "security", "issuerestriction", ...named])].sort();
}
