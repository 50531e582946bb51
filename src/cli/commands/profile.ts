import type { User } from "#api/session.ts";
import { connect } from "#cli/api.ts";
import { flagOption, textOption, type CommandInput } from "#cli/command.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { usageFailure } from "#cli/failure.ts";
import { makeOutput, type Output } from "#cli/output.ts";
import { loadSettings } from "#cli/settings.ts";
import { readStdin } from "#cli/values.ts";
import { byPassword } from "./by-session.ts";

/** `kb profile show` */
export async function showProfile(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const { user } = await api.get("/api/session");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result({ user }, () => printUser(user, output));
}

/** `kb profile update` */
export async function updateProfile(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const name = textOption(input, "name");
  const timeZone = textOption(input, "timeZone");
  if (name === undefined && timeZone === undefined) {
    throw usageFailure("Nothing to change.", "kb profile update --help");
  }
  const answer = await api.patch("/api/profile", {
    body: { name, timeZone: timeZone === "none" ? null : timeZone },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => printUser(answer.user, output));
}

/** `kb profile password`: both passwords from prompts or from stdin, never from the command line. */
export async function changePassword(input: CommandInput, deps: Deps): Promise<void> {
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
}

async function readPasswords(
  input: CommandInput,
  deps: Deps,
): Promise<{ currentPassword: string; newPassword: string }> {
  if (flagOption(input, "passwordStdin")) {
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

function printUser(user: User, output: Output): void {
  output.record([
    ["id", user.id],
    ["name", user.name],
    ["email", `${user.email}${user.emailVerifiedAt === null ? " (not confirmed)" : ""}`],
    ["time zone", user.timeZone ?? "the workspace's"],
    ["since", user.createdAt.slice(0, 10)],
  ]);
}
