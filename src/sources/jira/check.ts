import type { SourceProblem } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { wordsOf } from "#sources/atlassian/check.ts";
import { baseUrlOf, isCloud } from "#sources/atlassian/config.ts";
import { type CheckOutcome, runCheck } from "#sources/check.ts";
import { isBadJql } from "./changes.ts";
import { type JiraClient, type JiraContext, makeJiraClient } from "./client.ts";
import { makeRulesReader } from "./projects.ts";

/**
 * Checks whether the site accepts the account, and which permissions the account lacks to read the readers of issues.
 */
export function checkSite(ctx: JiraContext): Promise<CheckOutcome> {
  return runCheck(ctx, wordsOf(ctx.config, "Jira"), async () => {
    const client = makeJiraClient(ctx);
    const problem = await wrongDeployment(ctx, client);
    if (problem) return { problem };
    const { user } = await client.whoAmI();
    if (ctx.config.jql !== "") await tryJql(client, ctx.config.jql);
    return { ...defined({ accountId: user.id }), warnings: await warningsOf(client) };
  });
}

async function wrongDeployment({ config }: JiraContext, client: JiraClient): Promise<SourceProblem | undefined> {
  const { deploymentType } = await client.serverInfo();
  const isReallyCloud = deploymentType === "Cloud";
  if (deploymentType === undefined || isReallyCloud === isCloud(config)) return undefined;
  return {
    code: "connector_check_failed",
    message: `${new URL(baseUrlOf(config)).host} is Jira ${isReallyCloud ? "Cloud" : "Data Center"}.`,
    hint: `Choose the deployment ${isReallyCloud ? "cloud" : "data_center"}.`,
    field: "deployment",
  };
}

async function tryJql(client: JiraClient, jql: string): Promise<void> {
  try {
    // The query is limited to the last day, because Cloud requires a bounded query.
    await client.search(`updated >= -1d AND (${jql})`, ["project"]).next();
  } catch (error) {
    if (isBadJql(error))
      throw new ApiError("connector_check_failed", { message: "Jira does not understand the JQL.", field: "jql" });
    throw error;
  }
}

async function warningsOf(client: JiraClient): Promise<string[]> {
  const isAdmin = await client.administers();
  const projects = await client.projects();
  const rules = makeRulesReader(client);
  const some = projects.slice(0, MOST_TRIED);
  const closed: string[] = [];
  let levels = 0;
  for (const project of some) {
    const { browse, hasLevels } = await rules.rulesOf(project);
    if (!browse) closed.push(project.key);
    if (hasLevels === true) levels++;
  }
  return [
    ...(projects.length === 0 ? ["The account can't see any project. Give it the permission “Browse Projects”."] : []),
    ...(isAdmin
      ? []
      : [
          "The account lacks the global permission “Administer Jira”, so kb can't see application access, groups and security levels, and no one can read anything that isn't public.",
        ]),
    ...(closed.length > 0
      ? [
          `kb can't see who may read ${closed.slice(0, 5).join(", ")}. Give the account the permission “Administer Jira” or “Administer Projects”.`,
        ]
      : []),
    ...(levels > 0 && !client.cloud
      ? ["Jira Data Center doesn't say who is in a security level, so no one can read issues that have one."]
      : []),
  ];
}

/** The most projects whose schemes are checked. */
const MOST_TRIED = 20;
