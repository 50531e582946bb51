import type { Scope } from "#core/scope.ts";
import { isApiError } from "#api/errors.ts";
import type { RefusalCode } from "#sources/contract.ts";
import type { ProjectRules } from "./access.ts";
import type { JiraClient } from "./client.ts";
import { compareIds } from "./ids.ts";
import { type Grant, readHolders } from "./readers.ts";
import type { ProjectRecord } from "./records.ts";

/** A scope names projects by their ids. */
export function isProjectInScope({ include, exclude }: Scope, id: string): boolean {
  return (include.length === 0 || include.includes(id)) && !exclude.includes(id);
}

/** The projects to read, in the order of their ids. */
export async function readProjects(client: JiraClient, scope: Scope): Promise<ProjectRecord[]> {
  const all = await client.projects();
  return all.filter(({ id }) => isProjectInScope(scope, id)).sort((a, b) => compareIds(a.id, b.id));
}

/** What decides who reads the issues of projects: each asked for once in a run. */
export function makeRulesReader(client: JiraClient) {
  const known = new Map<string, Promise<ProjectRules>>();
  const schemes = new Map<string, Promise<Awaited<ReturnType<JiraClient["levelMembers"]>> | undefined>>();

  const membersOf = (schemeId: string) => {
    const members = schemes.get(schemeId) ?? orNothing(() => client.levelMembers(schemeId));
    schemes.set(schemeId, members);
    return members;
  };

  async function read(project: ProjectRecord): Promise<ProjectRules> {
    const holders = await orNothing(() => client.browsers(project.id));
    const scheme = await orNothing(async () => ({ found: await client.securityScheme(project.id) }));
    const members = scheme?.found ? ((await membersOf(scheme.found.id)) ?? []) : [];
    const levels = new Map<string, Grant>();
    for (const level of scheme?.found?.levels ?? []) {
      const ofLevel = members.filter(({ issueSecurityLevelId: id }) => id === level.id).map(({ holder }) => holder);
      levels.set(level.id, readHolders(ofLevel, project, client.cloud));
    }
    return {
      project,
      browse: holders && readHolders(holders, project, client.cloud),
      hasLevels: scheme && scheme.found !== undefined,
      levels,
      roles: undefined,
    };
  }

  const rulesOf = (project: ProjectRecord): Promise<ProjectRules> => {
    const rules = known.get(project.id) ?? read(project);
    known.set(project.id, rules);
    return rules;
  };

  return {
    rulesOf,
    /** The same with the project's roles, for comments that are for a role. */
    async withRoles(project: ProjectRecord): Promise<ProjectRules> {
      const rules = await rulesOf(project);
      if (rules.roles) return rules;
      const roles = (await orNothing(() => client.roles(project.id))) ?? new Map<string, string>();
      const complete = { ...rules, roles };
      known.set(project.id, Promise.resolve(complete));
      return complete;
    },
  };
}

/** Undefined when this credential may not know: then nobody is let in by it. */
export async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

/** What a refusal of one thing says; undefined for every other failure. */
export function refusalOf(error: unknown): RefusalCode | undefined {
  return REFUSALS.find((code) => isApiError(error, code));
}

const REFUSALS = ["source_forbidden", "source_not_found", "source_gone"] as const;
