import { type CheckOutcome, type FailureWords, runCheck } from "#sources/check.ts";
import { orNothing } from "#sources/failures.ts";
import { type DriveClient, type DriveContext, fromDirectory } from "./client.ts";
import { DIRECTORY_SCOPES } from "./config.ts";
import type { SharedDrive } from "./records.ts";

/**
 * Checks whether Google accepts the account, returns the account's identity, and warns about permissions that the
 * account can't see.
 */
export function checkDrive(ctx: DriveContext, client: DriveClient): Promise<CheckOutcome> {
  return runCheck(ctx, WORDS, async () => {
    const me = await client.me();
    const drives = await client.drives();
    const { myDrive, drives: named } = ctx.config;
    const missing = named.filter((id) => !drives.some((drive) => drive.id === id));
    const wanted = drives.filter(({ id }) => named.length === 0 || named.includes(id));
    if (!myDrive && wanted.length === 0) return { problem: nothingProblem(missing) };
    const warnings = [
      ...missing.map((id) => `${id} isn't a shared drive that this account is a member of.`),
      ...(await closedDrives(client, wanted)).map(
        ({ name }) => `This account may not see the members of ${name}. No one can find its files.`,
      ),
      ...(await directoryWarnings(client, me.sub !== undefined)),
    ];
    return { accountId: me.permissionId, warnings };
  });
}

/** The most shared drives that are checked. Checking more takes long, and drives rarely differ. */
const LOOKED_AT = 10;

async function closedDrives(client: DriveClient, drives: readonly SharedDrive[]): Promise<SharedDrive[]> {
  const closed: SharedDrive[] = [];
  for (const drive of drives.slice(0, LOOKED_AT)) {
    if ((await orNothing(() => client.permissions(drive.id))) === undefined) closed.push(drive);
  }
  return closed;
}

async function directoryWarnings(client: DriveClient, isAccount: boolean): Promise<string[]> {
  const domains = await fromDirectory(() => client.domains());
  const users = await fromDirectory(() => client.users().next());
  if (domains && users) return [];
  const unknown =
    "kb can't see who is in Google groups and domains. No one here can read files that are shared only with those.";
  const todo = isAccount
    ? "Connect a service account with domain-wide delegation instead."
    : `In the Admin console, grant domain-wide delegation for ${DIRECTORY_SCOPES.join(", ")}, and act as an administrator who can read users, groups and domains.`;
  return [`${unknown} ${todo}`];
}

function nothingProblem(missing: readonly string[]) {
  return {
    code: "connector_check_failed",
    message:
      missing.length > 0
        ? "This account is a member of none of these shared drives."
        : "The account has no files to read.",
    hint: "Turn on “My Drive”, or add the account to a shared drive.",
    field: "drives",
  } as const;
}

const WORDS: FailureWords = {
  source_unauthorized: {
    message: "Google does not accept this account or key.",
    hint: "Check that the key still exists. If “Act as” is set, grant the key's client ID the scope https://www.googleapis.com/auth/drive.readonly in the Admin console.",
    field: "credentials",
  },
  source_forbidden: {
    message: "Google does not let this account use the Drive API.",
    hint: "Turn on the Google Drive API in the Google Cloud project, and grant the scope drive.readonly.",
    field: "credentials",
  },
};
