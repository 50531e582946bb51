/** Operator commands on the server's machine: they work on the data folder directly, without a server. */
import { command, type Input, type Noun, type OptionsOf } from "#cli/line/command.ts";
import { DATA_DIR } from "#cli/line/options.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { failure, usageFailure } from "#cli/host/failure.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { readStdin } from "#cli/line/values.ts";

/** The input of every one of these commands. */
type HostInput = Input & { options: OptionsOf<typeof DATA_DIR> };

function placesOf(input: HostInput, deps: Deps) {
  return { flags: { dataDir: input.options.dataDir }, env: deps.env };
}

function printCode(code: string, baseUrl: string, meaning: string, input: HostInput, deps: Deps): void {
  makeOutput(input, deps).talk(`${meaning} Enter it at ${baseUrl}/welcome#code=${code}`);
  deps.io.stdout.write(`${code}\n`);
}

/**
 * Reads a password from a prompt, twice, or from line 1 of stdin. It is never read from the command line, which every user of the machine can see.
 */
async function readNewPassword(
  input: HostInput & { options: { passwordStdin: boolean } },
  deps: Deps,
): Promise<string> {
  if (input.options.passwordStdin) {
    const [line = ""] = (await readStdin(deps)).split(/\r?\n/);
    if (line === "") throw usageFailure("Line 1 of stdin must be the new password.");
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

export const admin: Noun = {
  summary: "Operator tasks, run on the data folder.",
  verbs: {
    "set-password": command(
      {
        summary: "Set a person's password and end all their sign-ins.",
        details:
          "For someone who lost their password on a server that sends no email. Run it as the user that runs the server; it works on the data folder, whether the server is running or not. It asks for the password or reads it from stdin, never from an argument. The audit log records it.",
        arguments: { "<email>": "the account's email address" },
        options: { ...DATA_DIR, "--password-stdin": "read the new password from line 1 of stdin" },
        examples: [
          "kb admin set-password ana@example.com",
          "kb admin set-password ana@example.com --password-stdin < password.txt",
        ],
        exitCodes: [3, 7],
      },
      async (input, deps) => {
        const password = await readNewPassword(input, deps);
        const { withHostAdmin } = await import("#server/admin.ts");
        const user = await withHostAdmin(placesOf(input, deps), ({ admin }) =>
          admin.setPassword(input.args.email, password),
        );
        makeOutput(input, deps).talk(
          `The password of ${user.email} is set. Their sessions, tokens, clients, links and linked identities are ended.`,
        );
      },
    ),
    "setup-code": command(
      {
        summary: "Print a new setup code for the first admin; it replaces the previous one.",
        options: DATA_DIR,
        examples: ["kb admin setup-code --data-dir /var/lib/kb"],
        exitCodes: [5, 7],
      },
      async (input, deps) => {
        const { withHostAdmin } = await import("#server/admin.ts");
        await withHostAdmin(placesOf(input, deps), async ({ admin, baseUrl }) => {
          printCode(
            await admin.makeSetupCode(),
            baseUrl,
            "It creates the first admin and is valid for 24 hours.",
            input,
            deps,
          );
        });
      },
    ),
    "reopen-setup": command(
      {
        summary: "Print a setup code that creates one more owner, valid for an hour.",
        details:
          "For an installation without an owner. If there is one workspace, the new owner joins it; otherwise they get a new one. The audit log records it. Not available in managed mode.",
        options: DATA_DIR,
        examples: ["kb admin reopen-setup --data-dir /var/lib/kb"],
        exitCodes: [5, 7],
      },
      async (input, deps) => {
        const { withHostAdmin } = await import("#server/admin.ts");
        await withHostAdmin(placesOf(input, deps), async ({ admin, baseUrl }) => {
          printCode(
            await admin.reopenSetup(),
            baseUrl,
            "It creates one more owner and is valid for an hour.",
            input,
            deps,
          );
        });
      },
    ),
    rekey: command(
      {
        summary: "Encrypt stored secrets again with the first key of KB_SECRET_KEYS.",
        details:
          "Put the new key first, restart the server with it, run this command, then remove the old key. Run it with the server's settings, as the user that runs the server; the server can stay running. After an interruption, run it again: it continues with the secrets that are left.",
        options: DATA_DIR,
        examples: ["kb admin rekey --data-dir /var/lib/kb"],
        exitCodes: [7, 8],
      },
      async (input, deps) => {
        const { withHostAdmin } = await import("#server/admin.ts");
        const output = makeOutput(input, deps);
        const { total, resealed, unreadable } = await withHostAdmin(placesOf(input, deps), ({ rekey }) =>
          rekey(({ done, total }) => {
            if (deps.io.isStderrTty) deps.io.stderr.write(`\r${done} of ${total} secrets`);
          }),
        );
        if (deps.io.isStderrTty) deps.io.stderr.write("\n");
        output.talk(`${resealed} of ${total} secrets were encrypted with the new key; the others already were.`);
        if (unreadable === 0) return;
        throw failure(
          "finishedWithErrors",
          "secret_unreadable",
          `${unreadable} of the secrets can't be decrypted with any of these keys.`,
          "Put the missing key back into KB_SECRET_KEYS and run the command again, or enter those credentials again.",
        );
      },
    ),
    "accept-key": command(
      {
        summary: "Let the server start with the current secret.key in place of a lost one.",
        details:
          "Use it only if the key that the database was used with can't be restored. Credentials that were stored with that key are lost: enter them again. Clients have to sign in again.",
        options: DATA_DIR,
        examples: ["kb admin accept-key --data-dir /var/lib/kb"],
        exitCodes: [7],
      },
      async (input, deps) => {
        const { withHostAdmin } = await import("#server/admin.ts");
        await withHostAdmin(placesOf(input, deps), ({ acceptKey: accept }) => accept());
        makeOutput(input, deps).talk("From now on, the server starts with the current secret.key.");
      },
    ),
  },
};
