import type { ApiError } from "#api/errors.ts";
import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import type { SourceContext } from "#sources/context.ts";
import type { ImapConfig } from "./config.ts";
import { toFolders } from "./folders.ts";
import { openSession } from "./session.ts";

/** Checks whether the account can sign in. Each problem comes with the next step. */
export function checkMailbox(ctx: SourceContext<ImapConfig>): Promise<CheckOutcome> {
  return runCheck(ctx, wordsOf, async () => {
    const session = await openSession(ctx, ctx.signal);
    try {
      const folders = toFolders(await session.list());
      const all = folders.find(({ attributes }) => attributes.has("\\all"));
      const warnings = [
        ...(folders.length === 0 ? ["The mailbox has no folders."] : []),
        ...(all
          ? ["The server keeps all messages in one folder, so kb reads only that folder unless you choose folders."]
          : []),
      ];
      return { warnings };
    } finally {
      session.close();
    }
  });
}

function wordsOf({ code }: ApiError): FailureWords {
  const hint = "Check the server and the port, and that it speaks IMAP with TLS.";
  return { otherwise: { field: "host", ...(code === "source_unavailable" && { hint }) } };
}
