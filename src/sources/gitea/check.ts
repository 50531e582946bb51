import { baseUrlOf } from "#sources/base-url.ts";
import type { SourceProblem } from "#api/common.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import type { SourceContext } from "#sources/context.ts";
import { type ForgeFiles, gitProblem } from "#sources/forge/files.ts";
import { makeGiteaClient } from "./client.ts";
import { type GiteaConfig } from "./config.ts";
import { listRecords } from "./forge.ts";

/** Checks whether the server accepts this token, and which parts of the config the token can't see. */
export function checkGitea(ctx: SourceContext<GiteaConfig>, files: ForgeFiles): Promise<CheckOutcome> {
  const client = makeGiteaClient(ctx);
  return runCheck(ctx, wordsOf(ctx.config), async () => {
    const noGit = ctx.config.content.includes("files") ? await files.unavailable() : undefined;
    if (noGit !== undefined) return { problem: gitProblem(noGit) };
    const { is_admin: isAdmin } = await client.me();
    const administers = isAdmin === true && (await client.administers());
    await client.checkScopes();
    const { records, closed } = await listRecords(client, ctx.config);
    if (closed.length > 0 && records.length === 0) return { problem: closedProblem(closed) };
    const missing = isAdmin === true ? "The token has no read:admin" : "You aren't a site administrator there";
    const warnings = [
      ...closed.map(({ name }) => `${name} doesn't exist, or this account can't read it.`),
      ...(records.length === 0 ? ["This account isn't a member of any repository."] : []),
      ...(administers
        ? []
        : [`${missing}, so kb can't see who is deactivated or a site administrator. Everything else works.`]),
    ];
    return { warnings };
  });
}

function closedProblem(closed: readonly { name: string }[]): SourceProblem {
  const names = closed.slice(0, 3).map(({ name }) => name);
  return {
    code: "connector_check_failed",
    message: `This account can't read anything of ${names.join(", ")}.`,
    hint: "Check the names, and that the account may read them.",
    field: "repositories",
  };
}

function wordsOf(config: GiteaConfig): FailureWords {
  const { host } = new URL(baseUrlOf(config));
  return {
    source_unauthorized: {
      message: `${host} does not accept this token (HTTP 401).`,
      hint: "Create a token under Settings > Applications.",
      field: "credentials",
    },
    source_forbidden: {
      message: `${host} does not let this token read everything that kb needs (HTTP 403).`,
      hint: "Give the token read access to repository, issue, organization and user.",
      field: "credentials",
    },
    source_not_found: {
      message: `${host} has no Gitea or Forgejo API at this address (HTTP 404).`,
      hint: "Give the address of the server's home page.",
      field: "url",
    },
    otherwise: { field: "url" },
  };
}
