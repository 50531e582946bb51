import type { Account, AccountProviderInfo } from "#api/accounts.ts";
import { addressOf, type Api } from "#cli/calls/api.ts";
import { route, type Noun } from "#cli/line/command.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { failure, usageFailure } from "#cli/host/failure.ts";
import { showPage } from "#cli/sign-in/sign-in.ts";
import { pickNamed } from "#cli/line/pick.ts";
import { readStdin } from "#cli/line/values.ts";
import { type Thing, callCommand, idOf, remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { flexible, formatted, minute, optional } from "#cli/terminal/table.ts";

const ACCOUNT: Thing<Account, { id: string }> = {
  name: "account",
  summary: "acc_…, or the service if you have only one account there",
  find: async (api, word) =>
    pickNamed(
      (await api.get("/api/accounts")).accounts,
      word,
      ({ id, providerId, label }) => ({ id, names: [providerId, label] }),
      { many: "accounts", none: `You have no account "${word}".`, list: "kb accounts list" },
    ),
  at: idOf,
};

const WAIT_MS = 10 * 60_000;
const LOOK_AGAIN_MS = 2_000;

async function addByToken(
  api: Api,
  provider: AccountProviderInfo,
  options: { token: boolean; baseUrl: string | undefined },
  deps: Deps,
): Promise<Account> {
  const { providerId, name, ownTokens } = provider;
  if (ownTokens === null) throw usageFailure(`${name} doesn't support tokens of your own.`, `Leave --token out.`);
  const baseUrl = options.baseUrl ?? (await askInstance(provider, ownTokens, deps));
  const token = canAsk(deps, {})
    ? await askToken(provider, ownTokens, baseUrl, deps)
    : options.token
      ? (await readStdin(deps)).trim()
      : "";
  if (token === "") {
    throw usageFailure(
      "No token was given.",
      `Give it on stdin: kb accounts connect ${providerId} --token < token.txt`,
    );
  }
  const body = { providerId, credentials: { token }, ...(baseUrl !== undefined && { baseUrl }) };
  return (await api.post("/api/accounts", { body })).account;
}

type OwnTokens = NonNullable<AccountProviderInfo["ownTokens"]>;

/** Asks for the instance. Returns undefined when the server knows which instance is meant. */
async function askInstance(
  { providerId, name, baseUrl }: AccountProviderInfo,
  { instances }: OwnTokens,
  deps: Deps,
): Promise<string | undefined> {
  if (baseUrl !== null || instances.length === 1) return undefined;
  if (instances.length === 0) {
    throw failure(
      "failure",
      "instance_not_trusted",
      `No instance of ${name} is registered here.`,
      `An admin can register it: kb workspace update --add-instance ${providerId}=URL`,
    );
  }
  const choices = instances.map((each) => ({ value: each.baseUrl, label: each.baseUrl }));
  if (canAsk(deps, {})) return deps.prompts.select(`Which ${name}?`, choices);
  throw usageFailure(
    `There are several instances: ${choices.map(({ value }) => value).join(", ")}.`,
    "Choose one with --base-url.",
  );
}

/** Explains how to create a token, and reads it with hidden input. */
async function askToken(
  { name }: AccountProviderInfo,
  { steps, instances }: OwnTokens,
  baseUrl: string | undefined,
  deps: Deps,
): Promise<string> {
  const here = baseUrl === undefined ? instances[0] : instances.find((each) => each.baseUrl === baseUrl);
  deps.io.stderr.write(here?.url ? `${steps}\n\n  ${here.url}\n\n` : `${steps}\n\n`);
  return (await deps.prompts.password(`Token of ${name}`)).trim();
}

function pickProvider(providers: readonly AccountProviderInfo[], service: string): AccountProviderInfo {
  return pickNamed(providers, service, ({ providerId, name }) => ({ id: providerId, names: [name] }), {
    many: "services",
    none: `There are no accounts at "${service}".`,
    list: "kb accounts list",
  });
}

function requireConfigured(
  { configured, name, providerId, ownTokens }: AccountProviderInfo,
  setUp: NonNullable<AccountProviderInfo["setUp"]>,
): void {
  if (configured) return;
  const orToken = ` Or give a token of your own: kb accounts connect ${providerId} --token`;
  throw failure(
    "failure",
    "account_provider_not_configured",
    `This server is not registered at ${name}.`,
    `The operator has to register it${setUp.url === null ? "" : ` at ${setUp.url}`}, with the redirect URL ${setUp.redirectUrl}, and set ${setUp.env.join(", ")}.${ownTokens === null ? "" : orToken}`,
  );
}

/** Waits until there is a new account, or an existing one was confirmed again. */
async function waitForAccount(
  api: Api,
  deps: Deps,
  { providerId }: AccountProviderInfo,
  before: readonly Account[],
): Promise<Account> {
  const known = new Map(before.map(({ id, confirmedAt }) => [id, confirmedAt]));
  for (const until = deps.clock.now() + WAIT_MS; deps.clock.now() < until;) {
    await deps.clock.sleep(LOOK_AGAIN_MS, deps.signal);
    const { accounts } = await api.get("/api/accounts");
    const made = accounts.find(
      (account) =>
        account.providerId === providerId &&
        account.state === "active" &&
        known.get(account.id) !== account.confirmedAt,
    );
    if (made) return made;
  }
  throw failure(
    "timedOut",
    "timeout",
    "No account was connected in time.",
    "To see whether it was connected later: kb accounts list",
  );
}

export const accounts: Noun = {
  summary: "Your accounts at other services.",
  verbs: {
    list: callCommand(
      "get",
      "/api/accounts",
      { summary: "List your accounts at other services.", examples: ["kb accounts list"], key: "accounts" },
      ({ accounts, providers }, { output }) =>
        output.table<Account>(
          accounts,
          {
            id: "id",
            service: "providerId",
            account: flexible("label"),
            state: "state",
            linked: ({ isLinked }) => (isLinked ? "yes" : "no"),
            confirmed: formatted(minute, "confirmedAt"),
            connectors: optional(({ connectors }) => connectors.map(({ name }) => name)),
          },
          `You have no accounts. Connect one with kb accounts connect SERVICE (${providers.map(({ providerId }) => providerId).join(", ")}).`,
        ),
    ),
    /** `kb accounts connect SERVICE`: in a browser, or with the person's own token. */
    connect: remoteCommand(
      {
        summary: "Connect an account in the browser, or with a token that you created at the service.",
        details:
          "The page says what will be connected and shows the account that was found. On a machine without a browser, open the printed address on another one. With a token, the account is the token's own; Matrix, Jira and Confluence accept only tokens.",
        arguments: { "<service>": "gitea, github, google, slack, matrix, jira or confluence" },
        options: {
          "--token": "use a token that you created at the service, read from a prompt or stdin",
          "--base-url <url>": "the registered instance that the token is for, such as https://git.example.org",
          "--print": "only print the page's address, and don't wait",
        },
        examples: [
          "kb accounts connect github",
          "kb accounts connect matrix",
          "kb accounts connect gitea --base-url https://git.example.org --token < token.txt",
        ],
        exitCodes: [5, 9],
        fields: [route("post", "/api/accounts", "account")],
      },
      async ({ api, output, args, options, deps }) => {
        const done = (made: Account) =>
          output.result(
            { account: made },
            ({ account: { id, label, providerName } }) => `Connected ${label} at ${providerName} (${id}).`,
          );
        const { accounts, providers } = await api.get("/api/accounts");
        const provider = pickProvider(providers, args.service);
        if (options.token || (provider.setUp === null && !options.print)) {
          return done(await addByToken(api, provider, options, deps));
        }
        if (options.baseUrl !== undefined) throw usageFailure("--base-url requires --token.");
        if (provider.setUp !== null) requireConfigured(provider, provider.setUp);
        const address = addressOf(api.settings.server, `/settings/accounts?connect=${provider.providerId}`);
        if (options.print) return output.line(address);
        await showPage(deps, address, output.talk);
        output.talk(`Waiting for up to ${WAIT_MS / 60_000} minutes. Press Ctrl-C to stop.`);
        return done(await waitForAccount(api, deps, provider, accounts));
      },
    ),
    disconnect: removeCommand("/api/accounts/{id}", {
      summary: "Disconnect an account: its tokens are revoked, and connectors that use it stop.",
      of: ACCOUNT,
      examples: ["kb accounts disconnect github --yes"],
      question({ label, providerName, connectors }) {
        const stops =
          connectors.length === 0 ? "" : ` These connectors stop: ${connectors.map(({ name }) => name).join(", ")}.`;
        return `Disconnect ${label} at ${providerName}?${stops}`;
      },
      done: ({ label, providerName }) => `Disconnected ${label} at ${providerName}.`,
    }),
  },
};
