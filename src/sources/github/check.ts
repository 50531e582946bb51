import { orNothing } from "#sources/failures.ts";
import type { SourceProblem } from "#api/common.ts";
import { type ApiError, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { type ForgeFiles, gitProblem } from "#sources/forge/files.ts";
import { type GithubClient, type GithubContext, makeGithubClient, type Me } from "./client.ts";
import { isMirrored, openOrganization } from "./organization.ts";
import { reasonOf } from "./reasons.ts";
import type { RepositoryRecord } from "./records.ts";
import { type Closed, listRecords } from "./repositories.ts";

/** The number of owners, and of repositories, that are checked more closely. */
const LOOKED_AT = 3;

/** Checks whether GitHub answers, who owns the token, and what the token can't see. */
export function checkGithub(ctx: GithubContext, files: ForgeFiles): Promise<CheckOutcome> {
  const client = makeGithubClient(ctx);
  return runCheck(
    ctx,
    (error) => wordsOf(error, ctx.config.apiUrl),
    async () => {
      const noGit = ctx.config.content.includes("files") ? await files.unavailable() : undefined;
      if (noGit !== undefined) return { problem: gitProblem(noGit) };
      const me = await client.me();
      const { records, closed } = await listRecords(client, ctx.config);
      if (closed.length > 0 && records.length === 0) return { problem: closedProblem(closed) };
      const unread = await unreadable(client, records);
      const warnings = [
        ...closed.map(({ name, reason }) => `${name} doesn't exist, or this token can't read it${because(reason)}.`),
        ...(records.length === 0 ? [nothingThere(me)] : []),
        ...scopeWarnings(me),
        ...unread,
        ...(await peopleWarnings(client, records)),
      ];
      return { ...(me.type === "user" && { accountId: String(me.id), ...defined({ scopes: me.scopes }) }), warnings };
    },
  );
}

/** Returns the kinds of content that the token can't read, tested with one repository. */
async function unreadable(client: GithubClient, records: readonly RepositoryRecord[]): Promise<string[]> {
  const record = records.find((each) => each.private) ?? records[0];
  if (!record) return [];
  const found: string[] = [];
  for (const [of, right] of [
    ["issues", "Issues (read)"],
    ["pulls", "Pull requests (read)"],
  ] as const) {
    try {
      await client.count(String(record.id), of);
    } catch (error) {
      if (!isApiError(error, "source_forbidden") && !isApiError(error, "source_not_found")) throw error;
      const why = reasonOf(error) ?? `grant it ${right} under Repository permissions`;
      found.push(`This token can't read ${of === "pulls" ? "pull requests" : of} of ${record.full_name}: ${why}.`);
    }
  }
  return found;
}

/** Returns warnings for repositories whose readers can't be read, with the missing permission. */
async function peopleWarnings(client: GithubClient, records: readonly RepositoryRecord[]): Promise<string[]> {
  const warnings: string[] = [];
  const closed = records.filter((record) => record.private);
  const owners = new Map(closed.map((record) => [record.owner.id, record]));
  for (const record of [...owners.values()].slice(0, LOOKED_AT)) {
    const { login, type } = record.owner;
    const organization = type === "User" ? undefined : await openOrganization(client, login);
    if (isMirrored(organization)) continue;
    const people = await orNothing(() => client.collaborators(String(record.id), "all"));
    if (people === undefined) {
      warnings.push(
        `kb can't see who reads ${record.full_name}, so no one can find it. ${
          type === "User"
            ? "Use a token of someone who can push to it."
            : "Use a token of an organization owner, or grant Members (read) and Administration (read) under Organization permissions."
        }`,
      );
    } else if (type !== "User") {
      warnings.push(
        `kb can't see the members, teams or base permission of ${login}, so it asks for the readers of each repository. For fewer requests, grant Members (read) and Administration (read) under Organization permissions, or admin:org to a classic token of an owner.`,
      );
    }
  }
  return warnings;
}

/** Returns warnings based on the scopes that a classic token reports. */
function scopeWarnings(me: Me): string[] {
  if (me.type !== "user" || !me.scopes || me.scopes.length === 0) return [];
  const has = (...names: string[]) => names.some((name) => me.scopes?.includes(name));
  return [
    ...(has("repo") ? [] : ["This token lacks the scope “repo”, so kb can read only public repositories."]),
    ...(has("read:org", "write:org", "admin:org")
      ? []
      : ["This token lacks the scope “read:org”, so kb can't see the teams and members of organizations."]),
  ];
}

function nothingThere(me: Me): string {
  return me.type === "user"
    ? "This account isn't a member of any repository, or the token has access to none."
    : "The app is installed on no repository.";
}

function because(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${reason}`;
}

function closedProblem(closed: readonly Closed[]): SourceProblem {
  const names = closed.slice(0, 3).map(({ name }) => name);
  const reason = closed.find((each) => each.reason !== undefined)?.reason;
  return {
    code: "connector_check_failed",
    message: `This token can't read anything of ${names.join(", ")}${because(reason)}.`,
    hint: "Check the names, and that the token or the app has access to them.",
    field: "repositories",
  };
}

function wordsOf(error: ApiError, apiUrl: string): FailureWords {
  const { host } = new URL(apiUrl);
  return {
    source_unauthorized: {
      message: `${host} does not accept these credentials (HTTP 401).`,
      hint: "Create a token under Settings > Developer settings. For an app, check its ID, its key and the installation.",
      field: "credentials",
    },
    source_forbidden: {
      message: `${host} does not let this token read what kb needs${because(reasonOf(error))} (HTTP 403).`,
      hint: "Grant Contents, Issues, Pull requests and Metadata (read).",
      field: "credentials",
    },
    source_not_found: {
      message: `${host} has no GitHub API at this address (HTTP 404).`,
      hint: "For GitHub Enterprise Server, the address ends with /api/v3.",
      field: "apiUrl",
    },
    otherwise: { field: "apiUrl" },
  };
}
