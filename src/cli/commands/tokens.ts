import type { BodyOf } from "#api/client.ts";
import type { CreatedToken, Token } from "#api/tokens.ts";
import { connect, type Api } from "#cli/api.ts";
import { argument, flagOption, textOption, wordsOption, type CommandInput } from "#cli/command.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { CliFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { parseDuration } from "#cli/values.ts";
import { bySession } from "./by-session.ts";

const DAY_MS = 86_400_000;

/** `kb tokens list` */
export async function listTokens(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const list = await api.get("/api/api-tokens");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(list, () =>
    output.table<Token>(
      list.tokens,
      [
        { title: "id", value: (token) => token.id },
        { title: "name", value: (token) => token.name, isFlexible: true },
        { title: "token", value: (token) => `${token.prefix}…`, isOptional: true },
        { title: "scopes", value: (token) => token.scopes, isFlexible: true },
        { title: "created", value: (token) => token.createdAt.slice(0, 10), isOptional: true },
        { title: "last used", value: (token) => token.lastUsedAt?.slice(0, 10) ?? "never" },
        { title: "expires", value: (token) => token.expiresAt?.slice(0, 10) ?? "never" },
      ],
      "You have no active tokens. Create one with kb tokens create NAME.",
    ),
  );
}

/** `kb tokens create NAME`: the plaintext is the only data on stdout. */
export async function createToken(input: CommandInput, deps: Deps): Promise<void> {
  const expires = textOption(input, "expires");
  const days = expires === undefined ? undefined : Math.ceil(parseDuration(expires, "--expires") / DAY_MS);
  const { made, isOwn } = await makeToken(input, deps, {
    name: argument(input, 0),
    scopes: wordsOption(input, "scope"),
    expiresInDays: days,
  });
  const output = makeOutput(input, deps);
  output.result(made, () => {
    output.line(made.plaintext);
    output.talk(`Created token ${made.token.id} for ${made.mcpUrl}. It is shown only once: store it now.`);
    const until = made.token.expiresAt?.slice(0, 10) ?? "";
    if (!isOwn)
      output.talk(
        `It ends with this login, on ${until} at the latest. To keep it longer, open Settings in the browser and choose "Keep".`,
      );
  });
}

/**
 * Asks with the login as it is, whose tokens are its children, and where that is refused with a session, whose tokens
 * stand alone. Source: S28.
 */
async function makeToken(
  input: CommandInput,
  deps: Deps,
  body: BodyOf<"post", "/api/api-tokens">,
): Promise<{ made: CreatedToken; isOwn: boolean }> {
  const post = (api: Api): Promise<CreatedToken> => api.post("/api/api-tokens", { body });
  const api = await connect(input, deps);
  if (api.credential?.kind === "token" && !flagOption(input, "passwordStdin")) {
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

/** `kb tokens revoke ID` */
export async function revokeToken(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.delete("/api/api-tokens/{id}", { params: { path: { id: argument(input, 0) } } });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => output.talk(`Revoked token "${answer.token.name}".`));
}
