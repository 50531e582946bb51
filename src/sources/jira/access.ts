import type { Principal, SourceAccess } from "#core/principals.ts";
import type { CommentRecord, IssueRecord, ProjectRecord } from "./records.ts";
import type { Names } from "#sources/atlassian/names.ts";
import { type Grant, groupIds, namedBy, SIGNED_IN } from "./readers.ts";

/**
 * The rules that decide who reads the issues of a project besides its groups. Undefined = this credential can't see it.
 */
export interface ProjectRules {
  project: ProjectRecord;
  browse: Grant | undefined;
  /** Whether the project has security levels at all. */
  hasLevels: boolean | undefined;
  /** The grants of each level; Data Center doesn't report them. */
  levels: ReadonlyMap<string, Grant>;
  /** Role ids by name. */
  roles: ReadonlyMap<string, string> | undefined;
}

export interface Naming {
  names: Names;
  cloud: boolean;
}

const NOBODY: SourceAccess = { known: false };

/**
 * The readers of an issue: those who may browse its project, AND those in its security level. Each is a group of the
 * project, with the people whom the issue itself names. What isn't understood has no readers.
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

/** The level of an issue; undefined when it has none. */
function levelOf(security: unknown, hasLevels: boolean | undefined): string | undefined {
  if (security === null) return undefined;
  // A project without levels has no such field; where there are levels, its absence proves nothing.
  if (security === undefined) return hasLevels === false ? undefined : "unknown";
  const id: unknown = typeof security === "object" && "id" in security ? security.id : undefined;
  const text = typeof id === "number" ? String(id) : id;
  return typeof text === "string" && /^\d{1,19}$/.test(text) ? text : "unknown";
}

/**
 * Whether an issue of a team-managed project is only for some roles. The API doesn't publish these, so no one reads the
 * issue here.
 */
function isRestricted(restriction: unknown, { simplified }: ProjectRecord): boolean {
  if (restriction === undefined || restriction === null) return simplified === true;
  if (typeof restriction !== "object" || !("issuerestrictions" in restriction)) return true;
  const { issuerestrictions: some } = restriction;
  return typeof some !== "object" || some === null || Object.keys(some).length > 0;
}

/** The readers of a comment, among those of its issue; undefined when all can read it. */
export function accessOfComment(
  { visibility, jsdPublic }: CommentRecord,
  { project, roles }: ProjectRules,
  { names, cloud }: Naming,
): SourceAccess | undefined {
  // Data Center does not report in a listing whether a comment is internal: then each is treated as internal.
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

/** The fields of an issue that decide who reads it. */
export function accessFields({ browse, levels }: Pick<ProjectRules, "browse" | "levels">): string[] {
  const grants = [...(browse ? [browse] : []), ...levels.values()];
  const named = grants.flatMap(({ userFields, groupFields }) => [...userFields, ...groupFields]);
  return [...new Set(["project", "security", "issuerestriction", ...named])].sort();
}
