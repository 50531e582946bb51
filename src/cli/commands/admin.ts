/** Commands of the operator on the server's machine: they work on the data folder itself and ask no server. */
import { argument, flagOption, textOption, type CommandInput } from "#cli/command.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { usageFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { readStdin } from "#cli/values.ts";

/** `kb admin set-password EMAIL`. */
export async function setPassword(input: CommandInput, deps: Deps): Promise<void> {
  const password = await readNewPassword(input, deps);
  const { withHostAdmin } = await import("#server/admin.ts");
  const user = await withHostAdmin(placesOf(input, deps), ({ admin }) =>
    admin.setPassword(argument(input, 0), password),
  );
  makeOutput(input, deps).talk(
    `The password of ${user.email} is set. Their sessions, tokens, clients, links and linked identities are ended.`,
  );
}

/** `kb admin setup-code`. */
export async function setupCode(input: CommandInput, deps: Deps): Promise<void> {
  const { withHostAdmin } = await import("#server/admin.ts");
  await withHostAdmin(placesOf(input, deps), async ({ admin, baseUrl }) => {
    tellCode(await admin.makeSetupCode(), baseUrl, "It makes the first admin and is valid for 24 hours.", input, deps);
  });
}

/** `kb admin reopen-setup`. */
export async function reopenSetup(input: CommandInput, deps: Deps): Promise<void> {
  const { withHostAdmin } = await import("#server/admin.ts");
  await withHostAdmin(placesOf(input, deps), async ({ admin, baseUrl }) => {
    tellCode(await admin.reopenSetup(), baseUrl, "It makes one more owner and is valid for an hour.", input, deps);
  });
}

function placesOf(input: CommandInput, deps: Deps) {
  return { flags: { dataDir: textOption(input, "dataDir") }, env: deps.env };
}

function tellCode(code: string, baseUrl: string, meaning: string, input: CommandInput, deps: Deps): void {
  makeOutput(input, deps).talk(`${meaning} Give it at ${baseUrl}/welcome#code=${code}`);
  deps.io.stdout.write(`${code}\n`);
}

/** From the person, twice, or line 1 of stdin; never from the command line, which every user of the machine reads. */
async function readNewPassword(input: CommandInput, deps: Deps): Promise<string> {
  if (flagOption(input, "passwordStdin")) {
    const [line = ""] = (await readStdin(deps)).split(/\r?\n/);
    if (line === "") throw usageFailure("stdin has no line 1, the new password.");
    return line;
  }
  if (!canAsk(deps, input.options)) {
    throw usageFailure("--password-stdin is needed: there is no terminal to ask on.");
  }
  const password = await deps.prompts.password("New password");
  if ((await deps.prompts.password("Repeat the password")) !== password)
    throw usageFailure("The passwords don't match.");
  return password;
}
