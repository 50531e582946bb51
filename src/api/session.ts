import { byId, idSchema, nextCursor, PageQuery, Role, Scope, Timestamp } from "./common.ts";
import { LinkToken } from "./links.ts";
import { Notice } from "./notices.ts";
import { answer, del, get, patch, post, signedIn, z } from "./route.ts";

/**
 * An email address as people type it. Addresses are compared in ASCII lower case. `admin@localhost` is valid; a list, a quoted or a commented address
 * isn't.
 */
export const Email = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@<>"(),:;[\]\\\p{Cc}\p{Cf}]+@[^\s@<>"(),:;[\]\\\p{Cc}\p{Cf}]+$/u, "Expected an email address")
  .openapi({ example: "anna@acme.test" });

/** The server checks the strength of a password (`password_too_weak`); this only limits its length. */
export const Password = z.string().min(1).max(1024);

/** An IANA time zone. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, "Expected an IANA time zone such as Europe/Vienna")
  .openapi({
    description: "A name from the IANA time zone database; offsets such as +02:00 are not accepted.",
    example: "Europe/Vienna",
  });

/** A display name: one line, 1–120 characters. Different kinds of spaces are treated as the same. */
export const PersonName = z
  .string()
  .overwrite((name) => name.replaceAll(/\p{Zs}+/gu, " "))
  .trim()
  .min(1)
  .max(120)
  .regex(/^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u, "Expected one line of plain text");

export const User = z
  .object({
    id: idSchema("user"),
    name: z.string(),
    email: z.string(),
    emailVerifiedAt: Timestamp.nullable(),
    timeZone: z.string().nullable(),
    createdAt: Timestamp,
  })
  .openapi("User");
export type User = z.infer<typeof User>;

/** How tokens, keys and passwords in texts are handled: masked (`[removed: aws key]`), or indexed as they are. */
export const SecretsSetting = z.enum(["mask", "index"]);

export const Workspace = z
  .object({
    id: idSchema("workspace"),
    name: z.string(),
    timeZone: z.string(),
    secrets: SecretsSetting,
    createdAt: Timestamp,
  })
  .openapi("Workspace");
export type Workspace = z.infer<typeof Workspace>;

export const Session = z
  .object({
    user: User,
    workspace: Workspace,
    role: Role,
    scopes: z.array(Scope),
    mode: z.enum(["self-hosted", "managed"]),
    signup: z.enum(["invite", "open", "closed"]),
    notices: z.array(Notice),
  })
  .openapi("Session");
export type Session = z.infer<typeof Session>;

/** One signed-in session of the person, for the list of devices. */
export const SessionRecord = z
  .object({
    id: idSchema("session"),
    createdAt: Timestamp,
    lastSeenAt: Timestamp,
    expiresAt: Timestamp,
    userAgent: z.string().nullable(),
    ip: z.string().nullable(),
    current: z.boolean(),
  })
  .openapi("SessionRecord");
export type SessionRecord = z.infer<typeof SessionRecord>;

/** How people can sign in to or join an installation; public before sign-in. */
export const EntryState = z
  .object({
    /** Whether the first admin still has to be created with the setup code. */
    needed: z.boolean(),
    mode: z.enum(["self-hosted", "managed"]),
    signup: z.enum(["invite", "open", "closed"]),
    /** The name of the identity provider for signing in, if there is one. */
    sso: z.string().nullable(),
    /** Whether this server can send email. If it can't, an admin hands over links. */
    canMail: z.boolean(),
  })
  .openapi("EntryState");
export type EntryState = z.infer<typeof EntryState>;

export const SignInBody = z.object({ email: Email, password: Password, timeZone: TimeZone.optional() });
export type SignInBody = z.infer<typeof SignInBody>;

export const OnboardingBody = z.object({
  setupCode: z.string().min(1).max(100),
  name: PersonName,
  email: Email,
  password: Password,
  workspaceName: PersonName,
  timeZone: TimeZone.optional(),
});
export type OnboardingBody = z.infer<typeof OnboardingBody>;

/** `{token}` alone from a signed-in person; with `email` and `password` from a person who has an account; with `name` as well from a new person. */
export const AcceptBody = z.object({
  token: LinkToken,
  name: PersonName.optional(),
  email: Email.optional(),
  password: Password.optional(),
  timeZone: TimeZone.optional(),
});
export type AcceptBody = z.infer<typeof AcceptBody>;

export const SignUpBody = z.object({
  name: PersonName,
  email: Email,
  password: Password,
  workspaceName: PersonName,
  timeZone: TimeZone.optional(),
});
export type SignUpBody = z.infer<typeof SignUpBody>;

/** The answer is the same for known and unknown addresses wherever a message is sent. */
export const Sent = z.object({ sent: z.literal(true) }).openapi("Sent");

/**
 * Only the person who requested a link can confirm it: in the browser of the sign-up, in a session of the person, or
 * with the password. Otherwise `password_needed`: another person's click must not prove an address.
 */
export const ConfirmBody = z.object({ token: LinkToken, password: Password.optional() });
export type ConfirmBody = z.infer<typeof ConfirmBody>;

/** The result of a confirmed link; it contains `session` if the link signed the person in. */
export const ConfirmResult = z
  .object({ purpose: z.enum(["sign_up", "verification", "email_change"]), session: z.union([Session, z.null()]) })
  .openapi("ConfirmResult");
export type ConfirmResult = z.infer<typeof ConfirmResult>;

export const PatchProfileBody = z.object({ name: PersonName.optional(), timeZone: TimeZone.nullable().optional() });
export type PatchProfileBody = z.infer<typeof PatchProfileBody>;

export const ChangePasswordBody = z.object({ currentPassword: Password, newPassword: Password });
export type ChangePasswordBody = z.infer<typeof ChangePasswordBody>;

export const ChangeEmailBody = z.object({ email: Email, password: Password });
export type ChangeEmailBody = z.infer<typeof ChangeEmailBody>;

/** A workspace in the list of one of its members. */
export const MyWorkspace = z
  .object({ id: idSchema("workspace"), name: z.string(), role: Role, joinedAt: Timestamp, current: z.boolean() })
  .openapi("MyWorkspace");
export type MyWorkspace = z.infer<typeof MyWorkspace>;

/** An identity at the single sign-on provider that opens this account. */
export const SsoIdentity = z
  .object({ issuer: z.string(), label: z.string(), createdAt: Timestamp })
  .openapi("SsoIdentity");
export type SsoIdentity = z.infer<typeof SsoIdentity>;

export const sessionRoutes = {
  get: get("/api/session", "Get the session: who is signed in", {
    200: answer("The person, the workspace and their rights", Session),
  }),
  signIn: post("/api/session", "Sign in with email and password", {
    body: SignInBody,
    200: signedIn("Signed in; the cookie is set", Session),
    problems: ["sign_in_failed", "forbidden"],
  }),
  signOut: del("/api/session", "Sign out", {
    204: { description: "Signed out; the session no longer works" },
  }),
  list: get("/api/sessions", "List your sessions", {
    query: PageQuery,
    200: answer("Active sessions, newest first", { sessions: z.array(SessionRecord), nextCursor }),
  }),
  revoke: del("/api/sessions/{id}", "End one of your sessions", {
    params: byId("session"),
    204: { description: "That session no longer works" },
  }),
  onboardingState: get("/api/onboarding", "Get whether this installation needs its first admin, and how people join", {
    200: answer("The setup state, and how people join", EntryState),
  }),
  onboard: post("/api/onboarding", "Create the first admin with the setup code", {
    body: OnboardingBody,
    201: signedIn("Signed in as the owner", Session),
    problems: ["onboarding_closed", "setup_code_invalid", "password_too_weak", "email_taken"],
  }),
  accept: post("/api/invitations/accept", "Accept an invitation", {
    body: AcceptBody,
    201: signedIn("Signed in as a member", Session),
    problems: [
      "invitation_invalid",
      "already_member",
      "password_too_weak",
      "sign_in_failed",
      "unauthenticated",
      "quota_reached",
    ],
  }),
  switchWorkspace: post(
    "/api/session/workspace",
    "Switch to another of your workspaces; the session gets a new secret",
    {
      body: z.object({ workspaceId: idSchema("workspace") }),
      200: signedIn("Switched; the cookie is set", Session),
      problems: ["not_found"],
    },
  ),
};

export const signUpRoutes = {
  signUp: post("/api/sign-up", "Sign up for an account and a workspace of your own, where sign-up is open", {
    body: SignUpBody,
    201: answer("An email was sent that finishes the sign-up, or says that the account exists", Sent),
    problems: ["sign_up_closed", "onboarding_needed", "email_taken", "password_too_weak", "mail_failed"],
  }),
  requestReset: post("/api/password-reset", "Send a password reset link", {
    body: z.object({ email: Email }),
    202: answer("Sent if the account exists", Sent),
    problems: ["mail_not_configured"],
  }),
  confirmReset: post(
    "/api/password-reset/confirm",
    "Set a new password with a reset link; all other credentials of the account are revoked",
    {
      body: z.object({ token: LinkToken, password: Password }),
      200: signedIn("Signed in", Session),
      problems: ["link_invalid", "password_too_weak", "forbidden"],
    },
  ),
  requestVerification: post("/api/email-verification", "Send yourself a link that confirms your email address", {
    202: answer("Sent", Sent),
    problems: ["already_verified", "mail_not_configured", "mail_failed"],
  }),
  confirm: post(
    "/api/email-verification/confirm",
    "Confirm a sign-up, an email address or a change of address with the link from an email",
    {
      body: ConfirmBody,
      200: signedIn("What the link confirmed", ConfirmResult),
      problems: ["link_invalid", "password_needed", "sign_in_failed", "email_taken", "forbidden"],
    },
  ),
};

export const profileRoutes = {
  update: patch("/api/profile", "Update your name or time zone", {
    body: PatchProfileBody,
    200: answer("The person", { user: User }),
  }),
  changePassword: post(
    "/api/profile/password",
    "Change your password; this signs out your other sessions and the clients you allowed",
    {
      body: ChangePasswordBody,
      204: { description: "Changed" },
      problems: ["password_wrong", "password_too_weak"],
    },
  ),
  changeEmail: post(
    "/api/profile/email",
    "Change your email address; on a server that sends email, you must confirm the new address first",
    {
      body: ChangeEmailBody,
      200: answer("The person, and whether they must confirm the address", { user: User, sent: z.boolean() }),
      problems: ["password_wrong", "email_taken", "mail_failed"],
    },
  ),
  identities: get("/api/profile/identities", "List your identities at the single sign-on provider", {
    200: answer("All of your identities", { identities: z.array(SsoIdentity), nextCursor }),
  }),
};

export const myWorkspaceRoutes = {
  list: get("/api/workspaces", "List your workspaces", {
    query: PageQuery,
    200: answer("Workspaces in the order you joined them", { workspaces: z.array(MyWorkspace), nextCursor }),
  }),
  create: post("/api/workspaces", "Create a workspace; you become its owner", {
    body: z.object({ name: PersonName, timeZone: TimeZone.optional() }),
    201: answer("The workspace", { workspace: Workspace }),
    problems: ["workspace_limit_reached"],
  }),
};

function isTimeZone(text: string): boolean {
  try {
    // Throws for an unknown time zone. Offsets such as "+02:00" are rejected, because they have no daylight saving.
    return Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "" && /^[A-Za-z]/.test(text);
  } catch {
    return false;
  }
}
