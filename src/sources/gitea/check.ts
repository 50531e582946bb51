import type { SourceProblem } from "#api/common.ts";
import { isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/contract.ts";
import type { ForgeFiles } from "#sources/forge/files.ts";
import { makeGiteaClient } from "./client.ts";
import { baseOf, type GiteaConfig } from "./config.ts";
import { listRecords } from "./forge.ts";

type Outcome = { ok: true; warnings?: string[] } | { ok: false; problem: SourceProblem };

/** Whether the server answers this token, and what of the config it does not show. */
export async function checkGitea(ctx: SourceContext<GiteaConfig>, files: ForgeFiles): Promise<Outcome> {
  const client = makeGiteaClient(ctx);
  try {
    const noGit = ctx.config.content.includes("files") ? await files.unavailable() : undefined;
    if (noGit !== undefined) return { ok: false, problem: gitProblem(noGit) };
    const { is_admin: isAdmin } = await client.me();
    const administers = isAdmin === true && (await client.administers());
    await client.checkScopes();
    const { records, closed } = await listRecords(client, ctx.config);
    if (closed.length > 0 && records.length === 0) return { ok: false, problem: closedProblem(closed) };
    const warnings = [
      ...closed.map(({ name }) => `${name} doesn't exist, or this account can't read it.`),
      ...(records.length === 0 ? ["This account isn't a member of any repository."] : []),
      ...(administers
        ? []
        : [
            `${isAdmin === true ? "The token has no read:admin" : "You aren't a site administrator there"}, so kb can't see who is deactivated or a site administrator. Everything else works.`,
          ]),
    ];
    return { ok: true, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    ctx.signal.throwIfAborted();
    return { ok: false, problem: problemOf(error, ctx.config) };
  }
}

function gitProblem(message: string): SourceProblem {
  return { code: "connector_check_failed", message, hint: "Install git, or leave out files.", field: "content" };
}

function closedProblem(closed: readonly { name: string }[]): SourceProblem {
  const names = closed.slice(0, 3).map(({ name }) => name);
  return {
    code: "connector_check_failed",
    message: `This account sees nothing of ${names.join(", ")}.`,
    hint: "Check the names, and that the account may read them.",
    field: "repositories",
  };
}

function problemOf(error: unknown, config: GiteaConfig): SourceProblem {
  const { host } = new URL(baseOf(config));
  if (!isApiError(error)) throw error;
  const { code, message, hint, retryAfterMs } = error;
  if (code === "source_unauthorized") {
    return {
      code,
      message: `${host} does not accept this token (HTTP 401).`,
      hint: "Create a token under Settings > Applications.",
      field: "credentials",
    };
  }
  if (code === "source_forbidden") {
    return {
      code,
      message: `${host} does not let this token read everything that kb needs (HTTP 403).`,
      hint: "Give the token read access to repository, issue, organization and user.",
      field: "credentials",
    };
  }
  if (code === "source_not_found") {
    return {
      code,
      message: `${host} has no Gitea or Forgejo API at this address (HTTP 404).`,
      hint: "Give the address of the server's home page.",
      field: "url",
    };
  }
  return { code, message, field: "url", ...defined({ hint, retryAfterMs }) };
}
