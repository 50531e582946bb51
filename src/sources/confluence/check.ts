import { defined } from "#core/defined.ts";
import { wordsOf } from "#sources/atlassian/check.ts";
import { type CheckOutcome, runCheck } from "#sources/check.ts";
import { orNothing } from "#sources/failures.ts";
import { type ConfluenceClient, type ConfluenceContext, makeConfluenceClient } from "./client.ts";
import { nameOf } from "./map.ts";
import { spacesOf } from "./spaces.ts";

/**
 * Checks whether the site accepts the account, and which permissions the account lacks to read the readers of pages.
 */
export function checkSite(ctx: ConfluenceContext): Promise<CheckOutcome> {
  const words = wordsOf(ctx.config, "Confluence");
  // Cloud and Data Center have different addresses.
  const hint = "Give the address of Confluence's home page, and the deployment that it is.";
  return runCheck(ctx, { ...words, source_not_found: { ...words.source_not_found, hint } }, async () => {
    const client = makeConfluenceClient(ctx);
    const { user } = await client.whoAmI();
    return { ...defined({ accountId: user.id }), warnings: await warningsOf(ctx, client) };
  });
}

/** The most spaces whose permissions are checked. */
const MOST_TRIED = 20;

async function warningsOf({ config }: ConfluenceContext, client: ConfluenceClient): Promise<string[]> {
  const { known: spaces } = await spacesOf(client, config);
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
    ...(spaces.length === 0
      ? ["The account can't see any space. Give it the permission “View” in the spaces to read."]
      : []),
    ...(access.length === 0 || members === undefined
      ? [
          `kb can't see who may use Confluence, so no one can read anything that isn't public. Make the account ${administer}.`,
        ]
      : []),
    ...(closed.length > 0
      ? [
          `kb can't see who may read ${closed.slice(0, 5).join(", ")}: no one can read what isn't public there. Make the account ${administer}.`,
        ]
      : []),
  ];
}
