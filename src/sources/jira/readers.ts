import type { Principal } from "#core/principals.ts";
import type { Names } from "#sources/atlassian/names.ts";
import type { GroupRef } from "./client.ts";
import type { HolderRecord, ProjectRecord, UserRecord } from "./records.ts";

/** The group of everyone with access to the application, that is, everyone who can sign in to Jira. */
export const SIGNED_IN = "signed-in";

/** Ids of groups at the source. */
export const groupIds = {
  group: ({ id }: GroupRef) => `g:${id}`,
  application: (key: string) => `app:${key}`,
  role: (projectId: string, roleId: string) => `p${projectId}.role.${roleId}`,
  browse: (projectId: string) => `p${projectId}.browse`,
  level: (projectId: string, levelId: string) => `p${projectId}.level.${levelId}`,
};

/** The people and groups that have a permission or a security level. */
export interface Grant {
  /** Recipients that are the same for every issue. */
  ids: GrantedTo[];
  /** Fields of the issue that contain users. */
  userFields: string[];
  /** Fields of the issue that contain groups. */
  groupFields: string[];
}

export type GrantedTo =
  | { type: "user"; id: string }
  | { type: "group"; ref: GroupRef }
  | { type: "role"; id: string }
  | { type: "application"; key: string }
  | { type: "signed_in" }
  | { type: "everyone" };

/**
 * Parses the holders of a permission. An unknown holder grants no access. Neither does a customer of a portal:
 * customers see their requests in the portal, and nothing in Jira itself.
 */
export function readHolders(
  holders: readonly HolderRecord[],
  { lead }: Pick<ProjectRecord, "lead">,
  cloud: boolean,
): Grant {
  const ids: GrantedTo[] = [];
  const [users, groups] = [new Set<string>(), new Set<string>()];
  for (const { type, parameter, value, user, group } of holders) {
    switch (type.toLowerCase()) {
      case "anyone":
        ids.push({ type: "everyone" });
        break;
      case "applicationrole": {
        const key = parameter ?? value;
        ids.push(key === undefined || key === "" ? { type: "signed_in" } : { type: "application", key });
        break;
      }
      case "group": {
        const id = cloud ? (group?.groupId ?? value) : (group?.name ?? parameter);
        if (id !== undefined && id !== "") ids.push({ type: "group", ref: { id } });
        break;
      }
      case "user": {
        const id = user?.id ?? (cloud ? (value ?? parameter) : parameter);
        if (id !== undefined && id !== "") ids.push({ type: "user", id });
        break;
      }
      case "projectrole": {
        const id = value ?? parameter;
        if (id !== undefined && /^\d{1,19}$/.test(id)) ids.push({ type: "role", id });
        break;
      }
      case "projectlead":
        if (lead?.id !== undefined) ids.push({ type: "user", id: lead.id });
        break;
      case "reporter":
      case "assignee":
        users.add(type.toLowerCase());
        break;
      case "usercustomfield":
      case "groupcustomfield": {
        const field = value ?? parameter;
        if (field === undefined || !/^customfield_\d{1,19}$/.test(field)) break;
        (type.toLowerCase() === "usercustomfield" ? users : groups).add(field);
        break;
      }
    }
  }
  return { ids, userFields: [...users].sort(), groupFields: [...groups].sort() };
}

/** Returns the principals that don't depend on the issue. */
export function principalsOf({ ids }: Grant, projectId: string, names: Names): Principal[] {
  const found = ids.flatMap((to): (Principal | undefined)[] => {
    switch (to.type) {
      case "everyone":
        return ["everyone"];
      case "signed_in":
        return [names.group(SIGNED_IN)];
      case "user":
        return [names.user(to.id)];
      case "group":
        return [names.group(groupIds.group(to.ref))];
      case "role":
        return [names.group(groupIds.role(projectId, to.id))];
      case "application":
        return [names.group(groupIds.application(to.key))];
    }
  });
  return [...new Set(found.filter((each) => each !== undefined))];
}

/** Returns the principals that an issue's own fields name. */
export function namedBy(
  { userFields, groupFields }: Grant,
  fields: Readonly<Record<string, unknown>>,
  { names, cloud }: { names: Names; cloud: boolean },
): Principal[] {
  const valuesOf = (field: string) => objectsIn(Object.hasOwn(fields, field) ? fields[field] : undefined);
  const users = userFields.flatMap(valuesOf).map((value) => {
    const { id, accountId = id, key = id } = value;
    const user = cloud ? accountId : key;
    return typeof user === "string" ? names.user(user) : undefined;
  });
  const groups = groupFields.flatMap(valuesOf).map(({ groupId, name }) => {
    const id = cloud ? groupId : name;
    return typeof id === "string" && id !== "" ? names.group(groupIds.group({ id })) : undefined;
  });
  return [...users, ...groups].filter((each) => each !== undefined);
}

/** Returns the one or several values of a field. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? value : [value]).flatMap((each) =>
    typeof each === "object" && each !== null ? [each as Record<string, unknown>] : [],
  );
}

/** Whether a member of a group can sign in to Jira. Apps and customers of a portal can't. */
export function isPerson({ id, accountType }: UserRecord): boolean {
  return id !== undefined && (accountType === undefined || accountType === "atlassian");
}
