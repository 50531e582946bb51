import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { type NotionClient, type NotionContext, orRefusal } from "./client.ts";

/** Checks whether the token works, and what the integration can't read. */
export function checkNotion(ctx: NotionContext, client: NotionClient): Promise<CheckOutcome> {
  return runCheck(ctx, WORDS, async () => {
    const { id } = await client.me();
    const page = await firstPage(client);
    if (page === undefined) return { accountId: id, warnings: [NOTHING_SHARED] };
    const isClosed = page === "source_forbidden" || (await isForbidden(() => client.children(page).next()));
    if (isClosed) return { problem: { code: "source_forbidden", ...NO_CONTENT } };
    const hasComments = !ctx.config.comments || !(await isForbidden(() => client.comments(page)));
    return { accountId: id, warnings: hasComments ? [] : [NO_COMMENTS] };
  });
}

const NOTHING_SHARED =
  "No page is shared with this integration. In Notion, open a page, choose ••• > Connections, and add the integration.";
const NO_COMMENTS =
  "This integration can't read comments. Give it the capability “Read comments”, or turn off comments.";
const NO_CONTENT = {
  message: "This integration can't read content (HTTP 403).",
  hint: "Give it the capability “Read content” on its page in Notion.",
  field: "credentials",
};

const WORDS: FailureWords = {
  source_unauthorized: {
    message: "Notion does not accept this integration secret (HTTP 401).",
    hint: "Copy it again from the integration's page. It begins with ntn_ or secret_.",
    field: "credentials",
  },
  source_forbidden: NO_CONTENT,
};

async function isForbidden(read: () => Promise<unknown>): Promise<boolean> {
  return (await orRefusal(read)) === "source_forbidden";
}

async function firstPage(client: NotionClient): Promise<string | undefined> {
  const found = await orRefusal(() => client.find("page", "", ""));
  return typeof found === "string" ? "source_forbidden" : found.pages[0]?.id;
}
