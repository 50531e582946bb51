import type { Noun } from "#cli/line/command.ts";
import { listCommand, onlyById, removeCommand } from "#cli/calls/remote-command.ts";
import { day, dayOrNever, flexible, formatted } from "#cli/terminal/table.ts";

export const grants: Noun = {
  summary: "OAuth clients that you allowed.",
  verbs: {
    list: listCommand("/api/grants", "grants", {
      summary: "List the OAuth clients that you allowed.",
      examples: ["kb grants list"],
      empty: "You allowed no clients.",
      columns: {
        id: "id",
        client: flexible("clientName"),
        place: flexible("place"),
        scopes: "scopes",
        since: formatted(day, "createdAt"),
        "last used": formatted(dayOrNever, "lastUsedAt"),
        until: formatted(day, "expiresAt"),
      },
    }),
    revoke: removeCommand("/api/grants/{id}", {
      summary: "Revoke a client's access; its tokens stop working at once.",
      of: onlyById("gra_…"),
      examples: ["kb grants revoke gra_2345abcd2345abcd --yes"],
      question: ({ id }) => `Revoke access of this client (${id})? Its tokens stop working at once.`,
      done: () => "Access revoked. The client's tokens no longer work.",
    }),
  },
};
