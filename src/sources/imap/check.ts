import type { SourceProblem } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { SourceContext } from "#sources/contract.ts";
import type { ImapConfig } from "./config.ts";
import { toFolders } from "./folders.ts";
import { openSession } from "./session.ts";

type Outcome = { ok: true; warnings?: string[] } | { ok: false; problem: SourceProblem };

/** Whether somebody can sign in; what is wrong is told with what to do. */
export async function checkMailbox(ctx: SourceContext<ImapConfig>): Promise<Outcome> {
  try {
    const session = await openSession(ctx, ctx.signal);
    try {
      const folders = toFolders(await session.list());
      const all = folders.find(({ attributes }) => attributes.has("\\all"));
      const warnings = [
        ...(folders.length === 0 ? ["The mailbox has no folders."] : []),
        ...(all
          ? ["The server keeps all messages in one folder, so kb reads that one alone unless you choose folders."]
          : []),
      ];
      return { ok: true, ...(warnings.length > 0 && { warnings }) };
    } finally {
      session.close();
    }
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    const { code, message, hint, field, retryAfterMs } = error;
    const todo =
      code === "source_unavailable" ? "Check the server and the port, and that it speaks IMAP with TLS." : undefined;
    return {
      ok: false,
      problem: { code, message, field: field ?? "host", ...defined({ hint: hint ?? todo, retryAfterMs }) },
    };
  }
}
