import type { BodyOf } from "#api/client.ts";
import type { CreatedToken, Token } from "#api/tokens.ts";
import { connect, type Api } from "#cli/api.ts";
import { command, fieldsOf, type Input, type Noun, type OptionsOf } from "#cli/command.ts";
import { PASSWORD_STDIN } from "#cli/options.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { CliFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { parseDuration } from "#cli/values.ts";
import { bySession } from "#cli/by-session.ts";
import { remoteCommand } from "#cli/remote-command.ts";
import { flexible } from "#cli/table.ts";

const DAY_MS = 86_400_000;

const listTokens = remoteCommand(
  {
    summary: "List your active tokens, newest first.",
    examples: ["kb tokens list"],
    fields: [fieldsOf("get", "/api/api-tokens", "tokens")],
  },
  async ({ api, output }) => {
    const list = await api.get("/api/api-tokens");
    output.result(list, () =>
      output.table<Token>(
        list.tokens,
        {
          id: (token) => token.id,
          name: flexible((token) => token.name),
          token: { value: (token) => `${token.prefix}…`, isOptional: true },
          scopes: flexible((token) => token.scopes),
          created: { value: (token) => token.createdAt.slice(0, 10), isOptional: true },
          "last used": (token) => token.lastUsedAt?.slice(0, 10) ?? "never",
          expires: (token) => token.expiresAt?.slice(0, 10) ?? "never",
        },
        "You have no active tokens. Create one with kb tokens create NAME.",
      ),
    );
  },
);

/** `kb tokens create NAME`: stdout has only the plaintext. */
const createToken = command(
  {
    summary: "Create a token; it is printed this once, alone on stdout.",
    details:
      "If you signed in with a browser, the token belongs to that login: it has at most its scopes, lasts at most 30 days, and ends with it. Confirm your password (--password-stdin, or when asked) to create a token that outlives the login.",
    arguments: [{ name: "name", summary: "what it is for", required: true }],
    options: [
      {
        flags: "--scope <scope>",
        summary: "its scope (default: mcp:read); may be repeated",
        choices: ["mcp:read", "kb:api", "kb:admin"],
        repeatable: true,
      },
      { flags: "--expires <duration>", summary: "for example 30d (default: never)" },
      PASSWORD_STDIN,
    ],
    examples: ["kb tokens create ci --scope kb:api --expires 90d > token.txt"],
    exitCodes: [4, 5, 7],
    fields: [fieldsOf("post", "/api/api-tokens")],
    isRemote: true,
  },
  async (input, deps) => {
    const expires = input.options.expires;
    const days = expires === undefined ? undefined : Math.ceil(parseDuration(expires, "--expires") / DAY_MS);
    const { made, isOwn } = await makeToken(input, deps, {
      name: input.args.name,
      scopes: input.options.scope.length > 0 ? input.options.scope : undefined,
      expiresInDays: days,
    });
    const output = makeOutput(input, deps);
    output.result(made, () => {
      output.line(made.plaintext);
      output.talk(`Created token ${made.token.id} for ${made.mcpUrl}. It is shown only once: store it now.`);
      const until = made.token.expiresAt?.slice(0, 10) ?? "";
      if (!isOwn)
        output.talk(
          `It ends with this login, on ${until} at the latest. To keep it beyond the login, choose "Keep" in the browser: Settings, MCP access.`,
        );
    });
  },
);

/**
 * Tries the current login, whose tokens are its children; if that is rejected, a session, whose tokens are independent.
 * Source: S28.
 */
async function makeToken(
  input: Input & { options: OptionsOf<readonly [typeof PASSWORD_STDIN]> },
  deps: Deps,
  body: BodyOf<"post", "/api/api-tokens">,
): Promise<{ made: CreatedToken; isOwn: boolean }> {
  const post = (api: Api): Promise<CreatedToken> => api.post("/api/api-tokens", { body });
  const api = await connect(input, deps);
  if (api.credential?.kind === "token" && !input.options.passwordStdin) {
    try {
      return { made: await post(api), isOwn: false };
    } catch (error) {
      const isRefused = error instanceof CliFailure && REFUSED.includes(error.code);
      if (!isRefused || !canAsk(deps, input.options)) throw error;
    }
  }
  return { made: await bySession(input, deps, post), isOwn: true };
}

const REFUSED = ["forbidden", "insufficient_scope", "recent_sign_in_required"];

const revokeToken = remoteCommand(
  {
    summary: "Revoke a token at once.",
    arguments: [{ name: "id", summary: "tok_…", required: true }],
    examples: ["kb tokens revoke tok_2345abcd2345abcd"],
    exitCodes: [3],
    fields: [fieldsOf("delete", "/api/api-tokens/{id}", "token")],
  },
  async ({ api, output, args }) => {
    const answer = await api.delete("/api/api-tokens/{id}", { params: { path: { id: args.id } } });
    output.result(answer, () => output.talk(`Revoked token "${answer.token.name}".`));
  },
);

export const tokens: Noun = {
  summary: "Personal access tokens.",
  verbs: {
    list: listTokens,
    create: createToken,
    revoke: revokeToken,
  },
};
