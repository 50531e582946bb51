import type { SourceProblem } from "#api/common.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { problemOf } from "#sources/atlassian/check.ts";
import { orNothing } from "#sources/failures.ts";
import type { Source } from "#sources/contract.ts";
import { type ConfluenceClient, type ConfluenceContext, makeConfluenceClient } from "./client.ts";
import { nameOf } from "./map.ts";
import { spacesOf } from "./spaces.ts";

/** Whether the account is known there, and what it lacks to say who reads what. */
export async function checkSite(ctx: ConfluenceContext): ReturnType<Source["check"]> {
  try {
    const client = makeConfluenceClient(ctx);
    const { user } = await client.whoAmI();
    const warnings = await warningsOf(ctx, client);
    return { ok: true, ...defined({ accountId: user.id }), ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, problem: toProblem(error, ctx) };
  }
}

function toProblem(error: ApiError, { config }: ConfluenceContext): SourceProblem {
  const problem = problemOf(error, config, "Confluence");
  // Both answer at addresses of their own.
  return isApiError(error, "source_not_found")
    ? { ...problem, hint: "Give the address of Confluence's home page, and the deployment that it is." }
    : problem;
}

/** Spaces whose permissions are tried. */
const MOST_TRIED = 20;

async function warningsOf({ config }: ConfluenceContext, client: ConfluenceClient): Promise<string[]> {
  const { spaces } = await spacesOf(client, config);
  const access = (await orNothing(() => client.groups("access"))) ?? [];
  const [first] = access;
  const id = client.cloud ? first?.id : first?.name;
  const members = id === undefined ? undefined : await orNothing(() => client.groupMembers(id));
  const closed: string[] = [];
  for (const space of spaces.slice(0, MOST_TRIED)) {
    if (!(await orNothing(() => client.readersOf(space)))) closed.push(nameOf(space));
  }
  const administer = client.cloud ? "Confluence administrator" : "Confluence Administrator, of Confluence 9.3 or newer";
  return [
    ...(spaces.length === 0 ? ["The account sees no space. Give it the permission View in the spaces to read."] : []),
    ...(access.length === 0 || members === undefined
      ? [
          `kb can't see who may use Confluence, so nobody can read anything that isn't public. Make the account ${administer}.`,
        ]
      : []),
    ...(closed.length > 0
      ? [
          `kb can't see who may read ${closed.slice(0, 5).join(", ")}: nobody can read what isn't public there. Make the account ${administer}.`,
        ]
      : []),
  ];
}
