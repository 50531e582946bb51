import { isNamedIn } from "#sources/in-scope.ts";
import type { Scope } from "#core/scope.ts";
import { byNumber, type ContainerList } from "#sources/containers.ts";
import { orNothing } from "#sources/failures.ts";
import type { ProjectRules } from "./access.ts";
import type { JiraClient } from "./client.ts";
import { type Grant, readHolders } from "./readers.ts";
import type { ProjectRecord } from "./records.ts";

export type Projects = ContainerList<ProjectRecord>;

/** Returns the projects to read, in the order of their ids. */
export async function readProjects(client: JiraClient, scope: Scope): Promise<Projects> {
  const { found, ids, nameless } = await client.odd.of(() => client.projects());
  return {
    known: found.filter(({ id }) => isNamedIn(scope, id)).sort((a, b) => byNumber(a.id, b.id)),
    odd: ids.filter((id) => isNamedIn(scope, id)),
    isWhole: nameless === 0,
  };
}

/**
 * Makes a reader of the rules that decide who can read the issues of projects. Each project's rules are read once in a
 * run.
 */
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
    /** Returns the rules with the project's roles, for comments that are restricted to a role. */
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
