import type { CreatedToken, Token, TokenList } from "#api/tokens.ts";
import { connect, segment } from "#cli/api.ts";
import { argument, listOption, textOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { makeOutput } from "#cli/output.ts";
import { parseDuration } from "#cli/values.ts";
import { bySession } from "./by-session.ts";

const DAY_MS = 86_400_000;

/** `kb tokens list` */
export async function listTokens(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const list = await api.call<TokenList>("GET", "/api/api-tokens");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(list, () =>
    output.table<Token>(
      list.tokens,
      [
        { title: "id", value: (token) => token.id },
        { title: "name", value: (token) => token.name, isFlexible: true },
        { title: "token", value: (token) => `${token.prefix}…` },
        { title: "scopes", value: (token) => token.scopes },
        { title: "created", value: (token) => token.createdAt.slice(0, 10) },
        { title: "last used", value: (token) => token.lastUsedAt?.slice(0, 10) ?? "never" },
        { title: "expires", value: (token) => token.expiresAt?.slice(0, 10) ?? "never" },
      ],
      "You have no active token. kb tokens create NAME makes one.",
    ),
  );
}

/** `kb tokens create NAME`: the plaintext is the only data on stdout. */
export async function createToken(input: CommandInput, deps: Deps): Promise<void> {
  const scopes = listOption(input, "scope");
  const expires = textOption(input, "expires");
  const days = expires === undefined ? undefined : Math.ceil(parseDuration(expires, "--expires") / DAY_MS);
  const body = {
    name: argument(input, 0),
    ...(scopes.length > 0 ? { scopes } : {}),
    ...(days === undefined ? {} : { expiresInDays: days }),
  };
  const made = await bySession(input, deps, (api) => api.call<CreatedToken>("POST", "/api/api-tokens", { body }));
  const output = makeOutput(input, deps);
  output.result(made, () => {
    output.line(made.plaintext);
    output.talk(`Token ${made.token.id} for ${made.mcpUrl}. It is shown this once: store it now.`);
  });
}

/** `kb tokens revoke ID` */
export async function revokeToken(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.call<{ token: Token }>("DELETE", `/api/api-tokens/${segment(argument(input, 0))}`);
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => output.talk(`Token "${answer.token.name}" is revoked; it opens nothing any more.`));
}
