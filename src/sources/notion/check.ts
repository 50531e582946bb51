import type { SourceProblem } from "#api/common.ts";
import { isApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceStanding } from "#sources/contract.ts";
import { type NotionClient, type NotionContext, orRefusal } from "./client.ts";

/** Whether the token works, and what the integration may not read. */
export async function checkNotion(
  ctx: NotionContext,
  client: NotionClient,
): Promise<SourceStanding | { ok: false; problem: SourceProblem }> {
  try {
    const { id } = await client.me();
    const page = await firstPage(client);
    const warnings: string[] = [];
    if (page === undefined) {
      warnings.push(
        "No page is shared with this integration. In Notion, open a page, choose ••• > Connections, and add the integration.",
      );
    } else {
      if (page === "source_forbidden" || (await orRefusal(() => client.children(page).next())) === "source_forbidden") {
        return { ok: false, problem: noContent() };
      }
      if (ctx.config.comments && (await orRefusal(() => client.comments(page))) === "source_forbidden")
        warnings.push("This integration can't read comments: give it Read comments, or turn comments off.");
    }
    return { ok: true, accountId: id, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!isApiError(error)) throw error;
    const { code, message, hint, retryAfterMs } = error;
    if (code === "source_unauthorized") {
      const problem = {
        code,
        message: "Notion does not accept this integration secret (HTTP 401).",
        hint: "Copy it again from the integration's page. It begins with ntn_ or secret_.",
        field: "credentials",
      };
      return { ok: false, problem };
    }
    if (code === "source_forbidden") return { ok: false, problem: noContent() };
    return { ok: false, problem: { code, message, ...defined({ hint, retryAfterMs }) } };
  }
}

async function firstPage(client: NotionClient): Promise<string | undefined> {
  const found = await orRefusal(() => client.find("page", "", ""));
  return typeof found === "string" ? "source_forbidden" : found.pages[0]?.id;
}

function noContent(): SourceProblem {
  return {
    code: "source_forbidden",
    message: "This integration can't read content (HTTP 403).",
    hint: "Give it the capability Read content on its page in Notion.",
    field: "credentials",
  };
}
