import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Store } from "#storage/records/store.ts";
import type { Parts } from "#storage/records/parts.ts";
import { ApiError } from "#api/errors.ts";
import type { AccountService } from "./accounts.ts";
import type { OnboardingService } from "./onboarding.ts";
import type { Passwords } from "./passwords.ts";

/**
 * Operator commands on the server's machine. They need no session or role, since anyone who can write the data folder
 * can do anything with it. Every action is audited.
 */
export type HostAdminService = ReturnType<typeof makeHostAdminService>;

export function makeHostAdminService(
  options: Pick<Parts, "store" | "clock"> & {
    audit: AuditRecorder;
    passwords: Passwords;
    accounts: AccountService;
    onboarding: Pick<OnboardingService, "makeSetupCode" | "reopen">;
  },
) {
  const { store, clock, passwords, accounts, onboarding, audit } = options;
  return {
    /**
     * Sets a person's password and ends every other credential of the account, linked identities included. The person
     * is notified at their next sign-ins.
     *
     * @throws ApiError `not_found`, which names the owners; `password_too_weak`
     */
    async setPassword(email: string, password: string): Promise<{ name: string; email: string }> {
      const known = await store.users.findByEmail(email);
      if (!known) throw await noAccount(store, email);
      passwords.check(password, known);
      const passwordHash = await passwords.hash(password);
      const { userId } = known;
      await store.transaction(async (tx) => {
        await accounts.endCredentials(tx, userId);
        await tx.links.endOf(userId, clock.now());
        await tx.sso.removeIdentitiesOf(userId);
        await tx.users.setPasswordHash(userId, passwordHash);
        await tx.users.notePasswordSet(userId, clock.now());
        await accounts.recordEverywhere(tx, userId, { action: "user.password_set", details: { on: "host" } });
      });
      return known;
    },

    /** Makes a new setup code while there is no first admin. @throws ApiError `onboarding_closed` */
    async makeSetupCode(): Promise<string> {
      const code = await onboarding.makeSetupCode();
      if (code !== undefined) return code;
      throw new ApiError("onboarding_closed", {
        message: "This installation already has its first admin.",
        hint: "Set their password with kb admin set-password EMAIL, or create another owner with kb admin reopen-setup.",
      });
    },

    /**
     * Makes a setup code for an installation that already has its first admin. For an hour, the code creates one more
     * owner. If there is a single workspace, the new owner joins it.
     *
     * @throws ApiError `onboarding_closed` if strangers can own workspaces, `onboarding_needed` before the first admin
     */
    async reopenSetup(): Promise<string> {
      const code = await onboarding.reopen();
      const target = { type: "server", id: "setup" };
      await store.transaction(async (tx) => {
        for (const { workspaceId } of await tx.workspaces.list()) {
          await audit.recordSystem(tx, workspaceId, { action: "installation.reopened", target });
        }
      });
      return code;
    },
  };
}

/** The person who reads this error can read the database, so it may name the owners. */
async function noAccount(store: Store, email: string): Promise<ApiError> {
  const owners = new Set<string>();
  for (const { workspaceId } of (await store.workspaces.list()).slice(0, 20)) {
    const members = await store.in(workspaceId).members.list({ limit: 100 });
    for (const member of members) if (member.role === "owner") owners.add(member.email);
  }
  const hint =
    owners.size === 0
      ? "There is no account yet. Create the first one with kb admin setup-code."
      : `Owners: ${[...owners].join(", ")}.`;
  return new ApiError("not_found", { message: `No account has the address ${email}.`, hint });
}
