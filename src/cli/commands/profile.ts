import type { User } from "#api/session.ts";
import { command, route, type Input, type Noun } from "#cli/line/command.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import { loadSettings } from "#cli/login/settings.ts";
import { changes, readStdin } from "#cli/line/values.ts";
import { byPassword } from "#cli/sign-in/by-session.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { day } from "#cli/terminal/table.ts";

async function readPasswords(
  input: Input & { options: { passwordStdin: boolean } },
  deps: Deps,
): Promise<{ currentPassword: string; newPassword: string }> {
  if (input.options.passwordStdin) {
    const [currentPassword = "", newPassword = ""] = (await readStdin(deps)).split(/\r?\n/);
    if (currentPassword === "" || newPassword === "") {
      throw usageFailure("stdin needs two lines: your current password, and the new one.");
    }
    return { currentPassword, newPassword };
  }
  if (!canAsk(deps, input.options)) {
    throw usageFailure("There is no terminal to ask on.", "kb profile password --password-stdin < passwords.txt");
  }
  const currentPassword = await deps.prompts.password("Current password");
  const newPassword = await deps.prompts.password("New password");
  if ((await deps.prompts.password("Repeat the new password")) !== newPassword) {
    throw usageFailure("The passwords don't match. Nothing was changed.");
  }
  return { currentPassword, newPassword };
}

function printUser({ user }: { user: User }, output: Output): void {
  output.record([
    ["id", user.id],
    ["name", user.name],
    ["email", `${user.email}${user.emailVerifiedAt === null ? " (not confirmed)" : ""}`],
    ["time zone", user.timeZone ?? "the workspace's"],
    ["since", day(user.createdAt)],
  ]);
}

export const profile: Noun = {
  summary: "Your name, time zone and password.",
  verbs: {
    show: remoteCommand(
      {
        summary: "Show your name, email and time zone.",
        examples: ["kb profile show"],
        call: route("get", "/api/session", "user"),
      },
      async ({ output, send }) => {
        const { user } = await send();
        output.result({ user }, (answer) => printUser(answer, output));
      },
    ),
    update: remoteCommand(
      {
        summary: "Change your name or time zone.",
        options: {
          "--name <name>": "your name, as others see it",
          "--time-zone <zone>": "such as Europe/Vienna, or none to use the workspace's",
        },
        examples: ["kb profile update --time-zone Europe/Vienna"],
        call: route("patch", "/api/profile", "user"),
      },
      async ({ output, options: { name, timeZone }, send }) => {
        const answer = await send({
          body: changes("kb profile update --help", { name, timeZone: timeZone === "none" ? null : timeZone }),
        });
        output.result(answer, () => printUser(answer, output));
      },
    ),
    /** `kb profile password`: reads both passwords from prompts or from stdin, never from the command line. */
    password: command(
      {
        summary: "Change your password; this signs out your other sessions and the clients you allowed.",
        options: {
          "--password-stdin": "read your current password from line 1 of stdin, the new one from line 2",
          "--email <email>": "the account's email address, if no one is signed in here",
        },
        examples: ["kb profile password", "kb profile password --password-stdin < passwords.txt"],
        exitCodes: [4, 6, 7],
        isRemote: true,
      },
      async (input, deps) => {
        const settings = await loadSettings(deps, input.options);
        const { currentPassword, newPassword } = await readPasswords(input, deps);
        await byPassword(
          input,
          deps,
          settings,
          (api) => api.post("/api/profile/password", { body: { currentPassword, newPassword } }),
          currentPassword,
        );
        const output = makeOutput(input, deps);
        output.talk("Password changed. Your other sessions and the clients you allowed are signed out.");
        output.talk(`Sign in again here: kb login ${settings.server.baseUrl}`);
      },
    ),
  },
};
