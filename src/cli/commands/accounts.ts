import type { Account, AccountProviderInfo } from "#api/accounts.ts";
import { addressOf, type Api, connect } from "#cli/api.ts";
import { command, fieldsOf, type Noun } from "#cli/command.ts";
import { confirmed } from "#cli/confirm.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure, usageFailure } from "#cli/failure.ts";
import { whyNoBrowser } from "#cli/oauth/sign-in.ts";
import { makeOutput } from "#cli/output.ts";
import { pickNamed } from "#cli/pick.ts";
import { readStdin } from "#cli/values.ts";

const listAccounts = command(
  {
    summary: "List your accounts at other services.",
    examples: ["kb accounts list"],
    exitCodes: [4, 7],
    fields: [fieldsOf("get", "/api/accounts", "accounts")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const list = await api.get("/api/accounts");
    const output = makeOutput(input, deps, api.settings.defaults);
    const names = list.providers.map(({ providerId }) => providerId).join(", ");
    output.result(list, () =>
      output.table<Account>(
        list.accounts,
        [
          { title: "id", value: ({ id }) => id },
          { title: "service", value: ({ providerId }) => providerId },
          { title: "account", value: ({ label }) => label, isFlexible: true },
          { title: "state", value: ({ state }) => state },
          { title: "linked", value: ({ isLinked }) => (isLinked ? "yes" : "no") },
          { title: "confirmed", value: ({ confirmedAt }) => confirmedAt.slice(0, 16).replace("T", " ") },
          { title: "connectors", value: ({ connectors }) => connectors.map(({ name }) => name), isOptional: true },
        ],
        `You have no accounts. Connect one with kb accounts connect SERVICE (${names}).`,
      ),
    );
  },
);

/** `kb accounts connect SERVICE`: by the page in a browser, or by a token on stdin. */
const connectAccount = command(
  {
    summary: "Connect an account: opens the page that does it, or takes a token from stdin.",
    details:
      "The page says what will be connected and shows the account that was found. Without a browser here, open the printed address elsewhere. With --token, the account is the one that the token belongs to.",
    arguments: [{ name: "service", summary: "gitea, github, google or slack", required: true }],
    options: [
      { flags: "--token", summary: "read a token that you made at the service from stdin" },
      { flags: "--base-url <url>", summary: "with --token: the registered instance, such as https://git.example.org" },
      { flags: "--print", summary: "print the page's address only, and don't wait" },
    ],
    examples: [
      "kb accounts connect github",
      "kb accounts connect gitea --base-url https://git.example.org --token < token.txt",
    ],
    exitCodes: [4, 5, 7, 9],
    fields: [fieldsOf("post", "/api/accounts", "account")],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const output = makeOutput(input, deps, api.settings.defaults);
    const { service } = input.args;
    const done = (account: Account) =>
      output.result({ account }, () =>
        output.talk(`Connected ${account.label} at ${account.providerName} (${account.id}).`),
      );
    if (input.options.token) return done(await addByToken(api, service, input, deps));
    if (input.options.baseUrl !== undefined) throw usageFailure("--base-url goes with --token.");
    const { accounts, providers } = await api.get("/api/accounts");
    const provider = requireConfigured(providers, service);
    const address = addressOf(api.settings.server, `/settings/accounts?connect=${provider.providerId}`);
    if (input.options.print) return output.line(address);
    const isOpened = whyNoBrowser(deps) === undefined && (await deps.openUrl(address));
    output.talk(`${isOpened ? "Your browser opens this page" : "Open this page in a browser"}:\n\n  ${address}\n`);
    output.talk(`Waiting for up to ${WAIT_MS / 60_000} minutes. Press Ctrl-C to stop.`);
    return done(await waitForAccount(api, deps, provider, accounts));
  },
);

const disconnectAccount = command(
  {
    summary: "Disconnect an account: its tokens are revoked, and connectors that read with it stop.",
    arguments: [{ name: "account", summary: "acc_…, or the service if you have one account there", required: true }],
    options: [{ flags: "--yes", summary: "skip the confirmation" }],
    examples: ["kb accounts disconnect github --yes"],
    exitCodes: [2, 3, 4, 7],
    isRemote: true,
  },
  async (input, deps) => {
    const api = await connect(input, deps);
    const { accounts } = await api.get("/api/accounts");
    const { id, label, providerName, connectors } = pickNamed<Account>(
      accounts,
      input.args.account,
      (account) => ({ id: account.id, names: [account.providerId, account.label] }),
      {
        many: "accounts",
        none: `You have no account "${input.args.account}".`,
        list: "kb accounts list",
      },
    );
    const stops =
      connectors.length === 0 ? "" : ` These connectors stop: ${connectors.map(({ name }) => name).join(", ")}.`;
    await confirmed(input, deps, `Disconnect ${label} at ${providerName}?${stops}`);
    await api.delete("/api/accounts/{id}", { params: { path: { id } } });
    makeOutput(input, deps).talk(`Disconnected ${label} at ${providerName}.`);
  },
);

const WAIT_MS = 10 * 60_000;
const LOOK_AGAIN_MS = 2_000;

async function addByToken(
  api: Api,
  providerId: string,
  input: { options: { baseUrl: string | undefined } },
  deps: Deps,
): Promise<Account> {
  if (canAsk(deps, {})) deps.io.stderr.write("Paste the token, then press Enter and Ctrl-D:\n");
  const token = (await readStdin(deps)).trim();
  if (token === "") throw usageFailure("stdin has no token.");
  const { baseUrl } = input.options;
  const body = { providerId, credentials: { token }, ...(baseUrl !== undefined && { baseUrl }) };
  return (await api.post("/api/accounts", { body })).account;
}

function requireConfigured(providers: readonly AccountProviderInfo[], service: string): AccountProviderInfo {
  const provider = pickNamed(providers, service, ({ providerId, name }) => ({ id: providerId, names: [name] }), {
    many: "services",
    none: `There are no accounts at "${service}".`,
    list: "kb accounts list",
  });
  if (provider.configured) return provider;
  const { setUp, name } = provider;
  throw new CliFailure({
    code: "account_provider_not_configured",
    exit: EXIT.failure,
    message: `This server is not registered at ${name}.`,
    hint: `The operator registers it${setUp.url === null ? "" : ` at ${setUp.url}`}, with the redirect URL ${setUp.redirectUrl}, and sets ${setUp.env.join(", ")}.${provider.ownTokens === null ? "" : ` Or give a token of your own: kb accounts connect ${provider.providerId} --token`}`,
  });
}

/** Until there is one that was not there, or one that was confirmed again. */
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
  throw new CliFailure({
    code: "timeout",
    exit: EXIT.timedOut,
    message: "No account was connected in time.",
    hint: "If you did it since, see it with: kb accounts list",
  });
}

export const accounts: Noun = {
  summary: "Your accounts at other services.",
  verbs: {
    list: listAccounts,
    connect: connectAccount,
    disconnect: disconnectAccount,
  },
};
