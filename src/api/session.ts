import { idSchema, PageCursor, PageLimit, Role, Scope, Timestamp } from "./common.ts";
import { answer, body, createRoute, problemAnswer, z } from "./route.ts";

/** An address as people type it; compared ASCII-lower-case. No more is asked of it: `admin@localhost` is one. */
export const Email = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@<>"]+@[^\s@<>"]+$/, "Expected an e-mail address")
  .openapi({ example: "anna@acme.test" });

/** What a password must be at least is said by the server (`password_too_weak`); here only the sane bounds. */
export const Password = z.string().min(1).max(1024);

/** An IANA time zone. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, "Expected an IANA time zone such as Europe/Vienna")
  .openapi({ example: "Europe/Vienna" });

/** A name that people see: one line, 1–120 characters. */
export const PersonName = z
  .string()
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

/** What becomes of tokens, keys and passwords in texts: taken out (`[removed: aws key]`), or indexed as they are. */
export const SecretsSetting = z.enum(["mask", "index"]);
export type SecretsSetting = z.infer<typeof SecretsSetting>;

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
  })
  .openapi("Session");
export type Session = z.infer<typeof Session>;

/** One sign-in of the person, for the list of devices. */
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

export const AcceptBody = z.object({
  token: z.string().min(1).max(200),
  name: PersonName,
  email: Email,
  password: Password,
  timeZone: TimeZone.optional(),
});
export type AcceptBody = z.infer<typeof AcceptBody>;

export const sessionRoutes = {
  get: createRoute({
    method: "get",
    path: "/api/session",
    summary: "Who am I?",
    responses: { 200: answer("The person, the workspace and what they may do", Session), default: problemAnswer },
  }),
  signIn: createRoute({
    method: "post",
    path: "/api/session",
    summary: "Sign in with e-mail and password",
    request: { body: body(SignInBody) },
    responses: { 200: answer("Signed in; the cookie is set", Session), default: problemAnswer },
  }),
  signOut: createRoute({
    method: "delete",
    path: "/api/session",
    summary: "Sign out",
    responses: { 204: { description: "Signed out; the session is dead" }, default: problemAnswer },
  }),
  list: createRoute({
    method: "get",
    path: "/api/sessions",
    summary: "Where am I signed in?",
    request: { query: z.object({ limit: PageLimit, cursor: PageCursor.optional() }) },
    responses: {
      200: answer(
        "Live sessions, newest first",
        z.object({ sessions: z.array(SessionRecord), nextCursor: z.string().nullable() }),
      ),
      default: problemAnswer,
    },
  }),
  revoke: createRoute({
    method: "delete",
    path: "/api/sessions/{id}",
    summary: "Sign out elsewhere",
    request: { params: z.object({ id: idSchema("session") }) },
    responses: { 204: { description: "That session is dead" }, default: problemAnswer },
  }),
  onboardingState: createRoute({
    method: "get",
    path: "/api/onboarding",
    summary: "Does this installation still need its first admin?",
    responses: { 200: answer("Whether it does", z.object({ needed: z.boolean() })), default: problemAnswer },
  }),
  onboard: createRoute({
    method: "post",
    path: "/api/onboarding",
    summary: "Make the first admin with the setup code",
    request: { body: body(OnboardingBody) },
    responses: { 201: answer("Signed in as the owner", Session), default: problemAnswer },
  }),
  accept: createRoute({
    method: "post",
    path: "/api/invitations/accept",
    summary: "Accept an invitation",
    request: { body: body(AcceptBody) },
    responses: { 201: answer("Signed in as a member", Session), default: problemAnswer },
  }),
};

function isTimeZone(text: string): boolean {
  try {
    // Throws for what it does not know. Offsets such as "+02:00" are no zones: they know no daylight saving.
    return Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "" && /^[A-Za-z]/.test(text);
  } catch {
    return false;
  }
}
