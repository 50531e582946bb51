import type { BodyOf } from "#api/client.ts";
import type { CreatedToken } from "#api/tokens.ts";
import { connect, type Api } from "#cli/calls/api.ts";
import { command, type Input, type Noun, type OptionsOf, route, oneOf } from "#cli/line/command.ts";
import { PASSWORD_STDIN } from "#cli/line/options.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { isFailure } from "#cli/host/failure.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { parseDuration, someOf } from "#cli/line/values.ts";
import { bySession } from "#cli/sign-in/by-session.ts";
import { callCommand, onlyById } from "#cli/calls/remote-command.ts";
import { day, dayOrNever, flexible, formatted, optional } from "#cli/terminal/table.ts";

const DAY_MS = 86_400_000;

/**
 * Tries the current login first; a token made with it ends with it. If the login is rejected, uses a session, whose tokens are independent. Source:
 * S28.
 */
async function makeToken(
  input: Input & { options: OptionsOf<typeof PASSWORD_STDIN> },
  deps: Deps,
  body: BodyOf<"post", "/api/api-tokens">,
): Promise<{ made: CreatedToken; isOwn: boolean }> {
  const post = (api: Api): Promise<CreatedToken> => api.post("/api/api-tokens", { body });
  const api = await connect(input, deps);
  if (api.credential?.kind === "token" && !input.options.passwordStdin) {
    try {
      return { made: await post(api), isOwn: false };
    } catch (error) {
      const isRefused = isFailure(error, "forbidden", "insufficient_scope", "recent_sign_in_required");
      if (!isRefused || !canAsk(deps, input.options)) throw error;
    }
  }
  return { made: await bySession(input, deps, post), isOwn: true };
}

export const tokens: Noun = {
  summary: "Personal access tokens.",
  verbs: {
    list: callCommand(
      "get",
      "/api/api-tokens",
      { summary: "List your active tokens, newest first.", examples: ["kb tokens list"], key: "tokens" },
      ({ tokens }, { output }) =>
        output.table(
          tokens,
          {
            id: "id",
            name: flexible("name"),
            token: optional(({ prefix }) => `${prefix}…`),
            scopes: flexible("scopes"),
            created: optional(formatted(day, "createdAt")),
            "last used": formatted(dayOrNever, "lastUsedAt"),
            expires: formatted(dayOrNever, "expiresAt"),
          },
          "You have no active tokens. Create one with kb tokens create NAME.",
        ),
    ),
    /** `kb tokens create NAME`: prints only the token's plaintext on stdout. */
    create: command(
      {
        summary: "Create a token; it is printed only once, alone on stdout.",
        details:
          "If you signed in with a browser, the token belongs to that login: it has at most its scopes, lasts at most 30 days, and ends with it. Confirm your password (--password-stdin, or when asked) to create a token that outlives the login.",
        arguments: { "<name>": "what it is for" },
        options: {
          "--scope <scope>": {
            ...oneOf(["mcp:read", "kb:api", "kb:admin"], "its scope (default: mcp:read); may be repeated"),
            repeatable: true,
          },
          "--expires <duration>": "when it expires, such as 30d (default: never)",
          ...PASSWORD_STDIN,
        },
        examples: ["kb tokens create ci --scope kb:api --expires 90d > token.txt"],
        exitCodes: [4, 5, 7],
        fields: [route("post", "/api/api-tokens")],
        isRemote: true,
      },
      async (input, deps) => {
        const { expires, scope } = input.options;
        const { made, isOwn } = await makeToken(input, deps, {
          name: input.args.name,
          scopes: someOf(scope),
          expiresInDays: expires === undefined ? undefined : Math.ceil(parseDuration(expires, "--expires") / DAY_MS),
        });
        const output = makeOutput(input, deps);
        output.result(made, ({ plaintext, token, mcpUrl }) => {
          output.line(plaintext);
          output.talk(`Created token ${token.id} for ${mcpUrl}. It is shown only once: store it now.`);
          if (isOwn) return;
          output.talk(
            `It ends with this login, on ${day(token.expiresAt)} at the latest. To keep it beyond the login, choose "Keep" in the browser: Settings > MCP access.`,
          );
        });
      },
    ),
    revoke: callCommand(
      "delete",
      "/api/api-tokens/{id}",
      {
        summary: "Revoke a token at once.",
        of: onlyById("tok_…"),
        examples: ["kb tokens revoke tok_2345abcd2345abcd"],
        key: "token",
      },
      ({ token }) => `Revoked token "${token.name}".`,
    ),
  },
};
