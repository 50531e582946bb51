import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import { timingSafeEqual } from "node:crypto";
import { ID_ALPHABET } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { EntryState, OnboardingBody } from "#api/session.ts";
import { hashSecret } from "#core/secrets.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";
import type { RandomBytes } from "#core/clock.ts";
import type { InstallationState } from "#storage/records/installation.ts";
import type { OpenedSession, SignInContext } from "./sign-in.ts";
import type { Store } from "#storage/records/store.ts";
import type { AccountService } from "./accounts.ts";
import { takeTry } from "./tries.ts";
import type { Passwords } from "./passwords.ts";
import type { SessionService } from "./service.ts";

export type OnboardingService = ReturnType<typeof makeOnboardingService>;

export interface OnboardingOptions extends Pick<Parts, "store" | "clock" | "randomBytes" | "log"> {
  audit: AuditRecorder;
  passwords: Passwords;
  /** Limits requests per address. It is looser than the limit of sign-ins, because each code has only 10 tries. */
  throttle: Throttle;
  sessions: Pick<SessionService, "open">;
  accounts: AccountService;
  /** How people can sign up. */
  entry: Omit<EntryState, "needed">;
  /** Called with the new code if the old one ran out of tries; prints it to the terminal. */
  announceSetupCode?: (code: string) => void;
}

const CODE_LIFETIME_MS = 86_400_000;
/** The lifetime is short because the person who reopens the setup is at the machine, and the installation is in use. */
const REOPENED_LIFETIME_MS = 3_600_000;
const MAX_TRIES = 10;
/** 26 characters of 5 bits each are 130 bits. */
const CODE_CHARS = 26;

/**
 * Makes the service for onboarding the first admin. Onboarding is closed once `installation.completedAt` is set. Only
 * the operator's own code reopens it. Source: S35.
 */
export function makeOnboardingService(options: OnboardingOptions) {
  const { store, clock, randomBytes, passwords, throttle, sessions, accounts, audit, log, entry } = options;
  // If everyone can make their own account, there is no first admin.
  const hasOnboarding = !(entry.mode === "managed" && entry.signup === "open");

  async function makeSetupCode(): Promise<string | undefined> {
    if (!hasOnboarding) return undefined;
    const code = randomCode(randomBytes);
    return store.transaction(async (tx) => {
      if ((await tx.installation.state()).completedAt !== null) return undefined;
      await tx.installation.setSetupCode(hashCode(code), clock.now() + CODE_LIFETIME_MS);
      return code;
    });
  }

  /** Counts the try in a separate transaction, so that a wrong try stays counted. */
  async function tryCode(code: string): Promise<"right" | "wrong" | "spent" | "closed"> {
    return store.transaction(async (tx) => {
      const state = await tx.installation.state();
      // If the installation is complete, a live code is the operator's, and can be used once to add an owner.
      if (state.completedAt !== null && !hasLiveCode(state)) return "closed";
      const { setupCodeHash, setupCodeExpiresAt, setupCodeTries } = state;
      if (setupCodeHash === null || setupCodeExpiresAt === null || setupCodeExpiresAt <= clock.now()) {
        return "wrong";
      }
      if (setupCodeTries >= MAX_TRIES) return "spent";
      if (timingSafeEqual(Buffer.from(hashCode(code)), Buffer.from(setupCodeHash))) return "right";
      await tx.installation.countSetupTry();
      return setupCodeTries + 1 >= MAX_TRIES ? "spent" : "wrong";
    });
  }

  async function requireCode(code: string): Promise<void> {
    const result = await tryCode(code);
    switch (result) {
      case "right":
        return;
      case "closed":
        throw closed();
      case "spent": {
        const fresh = await makeSetupCode();
        if (fresh !== undefined) options.announceSetupCode?.(fresh);
        throw wrongCode();
      }
      case "wrong":
        throw wrongCode();
    }
  }

  function hasLiveCode(state: InstallationState): boolean {
    const { setupCodeHash, setupCodeExpiresAt, setupCodeTries } = state;
    if (setupCodeHash === null || setupCodeExpiresAt === null) return false;
    return setupCodeExpiresAt > clock.now() && setupCodeTries < MAX_TRIES;
  }

  /** Runs in the transaction, so that only the request that completes the installation creates the owner. */
  async function createOwner(tx: Store, who: NewOwner): Promise<{ userId: string; workspaceId: string }> {
    const at = clock.now();
    if (!(await tx.installation.complete(at, who.codeHash))) throw closed();
    const { email, name, passwordHash, timeZone, origin } = who;
    // A person at the terminal entered the address, which doesn't verify it. Source: S3.
    const userId = await accounts.add(tx, { email, name, passwordHash, emailVerifiedAt: null, timeZone });
    const [only, ...further] = await tx.workspaces.list();
    const workspaceId =
      only === undefined || further.length > 0
        ? await accounts.addWorkspace(tx, { ownerId: userId, name: who.workspaceName, timeZone, origin })
        : only.workspaceId;
    if (workspaceId === only?.workspaceId) {
      await tx.in(workspaceId).members.insert({ userId, role: "owner", joinedAt: at });
    }
    const target = { type: "user", id: userId };
    await audit.recordSystem(tx, workspaceId, { action: "installation.completed", target }, { userId, ...who.origin });
    return { userId, workspaceId };
  }

  async function isNeeded(): Promise<boolean> {
    return hasOnboarding && (await store.installation.state()).completedAt === null;
  }

  return {
    /**
     * Makes a new setup code, in plain text, for the terminal only. Undefined once the first admin exists. The code is
     * valid for 24 hours and 10 tries, and replaces the previous one.
     */
    makeSetupCode,

    /** Returns how people can sign up, and whether the first admin is still missing. @throws ApiError `rate_limited` */
    async state(origin: RequestOrigin): Promise<EntryState> {
      takeTry(throttle, origin);
      return { needed: await isNeeded(), ...entry };
    },

    /** Whether the first admin is still missing. */
    isNeeded,

    /**
     * Creates the first admin and signs them in. Only one caller ever succeeds.
     *
     * @throws ApiError `onboarding_closed`, `setup_code_invalid`, `password_too_weak`, `rate_limited`
     */
    async onboard(body: OnboardingBody, context: SignInContext): Promise<OpenedSession> {
      takeTry(throttle, context.origin);
      if (!hasOnboarding) throw closed();
      await requireCode(body.setupCode);
      passwords.check(body.password, body);
      const passwordHash = await passwords.hash(body.password);
      return store.transaction(async (tx) => {
        const timeZone = body.timeZone ?? null;
        const codeHash = hashCode(body.setupCode);
        const owner = await createOwner(tx, { ...body, codeHash, passwordHash, timeZone, origin: context.origin });
        return sessions.open(tx, owner, context);
      });
    },

    /**
     * Makes a setup code, in plain text, for one more owner of an installation that already has its first admin. It is
     * valid for an hour and 10 tries. If there is a single workspace, the new owner joins it; otherwise they get a new
     * one.
     *
     * @throws ApiError `onboarding_closed` if strangers can own workspaces, `onboarding_needed` before the first admin
     */
    async reopen(): Promise<string> {
      if (!hasOnboarding || entry.mode === "managed") throw closed();
      const code = randomCode(randomBytes);
      return store.transaction(async (tx) => {
        if ((await tx.installation.state()).completedAt === null) {
          throw new ApiError("onboarding_needed", {
            message: "This installation still needs its first admin.",
            hint: "kb admin setup-code",
          });
        }
        await tx.installation.setSetupCode(hashCode(code), clock.now() + REOPENED_LIFETIME_MS);
        return code;
      });
    },

    /**
     * Creates the first admin from the settings when the server starts.
     *
     * @returns false if there already was an admin: the settings are then ignored, with a warning
     * @throws ApiError `settings_invalid` in managed mode, `password_too_weak`
     */
    async bootstrap({ email, password }: { email: string; password: string }): Promise<boolean> {
      if ((await store.installation.state()).completedAt !== null) {
        log.warn(
          {},
          "KB_BOOTSTRAP_EMAIL and KB_BOOTSTRAP_PASSWORD are ignored: the first admin already exists. Remove them.",
        );
        return false;
      }
      if (entry.mode === "managed") {
        throw new ApiError("settings_invalid", { message: "KB_BOOTSTRAP_EMAIL is not available in managed mode." });
      }
      passwords.check(password, { email });
      const passwordHash = await passwords.hash(password);
      const name = email.split("@")[0] ?? email;
      const owner = { email, name, passwordHash, workspaceName: "Workspace", timeZone: null };
      await store.transaction((tx) => createOwner(tx, owner));
      return true;
    },
  };
}

interface NewOwner {
  email: string;
  name: string;
  passwordHash: string;
  workspaceName: string;
  timeZone: string | null;
  origin?: RequestOrigin;
  /** Hash of the code that was entered. */
  codeHash?: string;
}

/** Returns groups of four characters with dashes, which are easy to type: `k7qm-…`. */
function randomCode(randomBytes: RandomBytes): string {
  let text = "";
  for (const byte of randomBytes(CODE_CHARS)) text += ID_ALPHABET[byte & 31];
  return text.replaceAll(/(.{4})(?=.)/g, "$1-");
}

/** Returns the hash of a code. Dashes, blanks and case don't matter. */
function hashCode(code: string): string {
  return hashSecret(`setup ${code.toLowerCase().replaceAll(/[\s-]/g, "")}`);
}

function closed(): ApiError {
  return new ApiError("onboarding_closed", {
    message: "The first admin already exists.",
    hint: "Sign in, or ask them for an invitation.",
  });
}

function wrongCode(): ApiError {
  return new ApiError("setup_code_invalid", {
    message: "This setup code is wrong, used or older than 24 hours.",
    hint: "To get a new one, run kb admin setup-code on the server.",
    field: "setupCode",
  });
}
