import { isoOf } from "#core/instant.ts";
import { command, ownFields, type Noun } from "#cli/line/command.ts";
import { makeCredentialStore, type CredentialStore, type StoredLogin, type StoreName } from "#cli/login/credentials.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { CliFailure } from "#cli/host/failure.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import { listProfiles } from "#cli/login/profiles.ts";
import { loadSettings } from "#cli/login/settings.ts";

/** One login on this machine, without its secrets. */
interface LoginStatus {
  server: string;
  profiles: string[];
  isCurrent: boolean;
  email: string | null;
  kind: "browser" | "password" | "token" | "admin" | "unknown";
  scopes: string[] | null;
  store: StoreName;
  place: string;
  adminUntil: string | null;
  problem: string | null;
}

async function statusOf(
  store: CredentialStore,
  origin: string,
  place: StoreName,
  now: number,
): Promise<Omit<LoginStatus, "email" | "profiles" | "isCurrent">> {
  const common = { server: origin, store: place, place: place === "file" ? store.path : "keychain" };
  try {
    const login = (await store.find(origin)) ?? {};
    const admin = login.admin !== undefined && login.admin.expiresAt > now ? login.admin.expiresAt : undefined;
    return {
      ...common,
      kind: kindOf(login),
      scopes: login.oauth?.scopes ?? null,
      adminUntil: admin === undefined ? null : isoOf(admin),
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    return { ...common, kind: "unknown", scopes: null, adminUntil: null, problem: error.message };
  }
}

function kindOf(login: StoredLogin): LoginStatus["kind"] {
  if (login.oauth !== undefined) return "browser";
  if (login.session !== undefined) return "password";
  if (login.apiToken !== undefined) return "token";
  return login.admin === undefined ? "unknown" : "admin";
}

function print(logins: readonly LoginStatus[], output: Output): void {
  for (const [at, login] of logins.entries()) {
    if (at > 0) output.line("");
    output.record([
      ["server", `${login.server}${login.isCurrent ? " (in use)" : ""}`],
      ["who", login.email ?? "not known"],
      ["signed in with", HOW[login.kind]],
      ["scopes", login.scopes ?? (login.kind === "password" ? "all of your role" : "")],
      ["kept in", login.store === "keychain" ? "the system's keychain" : login.place],
      ["until", UNTIL[login.kind]],
      ...(login.adminUntil === null ? [] : ([["admin rights", `until ${login.adminUntil}`]] as const)),
      ["profiles", login.profiles],
      ...(login.problem === null ? [] : ([["problem", login.problem]] as const)),
    ]);
  }
}

const HOW: Record<LoginStatus["kind"], string> = {
  browser: "browser",
  password: "email and password",
  token: "personal access token",
  admin: "browser, for admin rights only",
  unknown: "not known",
};

const UNTIL: Record<LoginStatus["kind"], string> = {
  browser: "renewed automatically while in use",
  password: "the session ends after some days without use",
  token: "kb whoami shows whether it still works",
  admin: "the end of the admin rights",
  unknown: "",
};

export const auth: Noun = {
  summary: "What this machine is signed in to.",
  verbs: {
    /**
     * `kb auth status`: lists the servers that this machine is signed in to, without contacting them. Exit code 4 when it isn't signed in to the
     * current one.
     */
    status: command(
      {
        summary: "Show the stored logins: who is signed in, how, and where each login is kept. Contacts no server.",
        examples: ["kb auth status", "kb auth status --json"],
        exitCodes: [4],
        fields: ownFields<LoginStatus>(
          "server",
          "profiles",
          "isCurrent",
          "email",
          "kind",
          "scopes",
          "store",
          "place",
          "adminUntil",
          "problem",
        ),
        isRemote: true,
      },
      async (input, deps) => {
        const settings = await loadSettings(deps, input.options);
        const store = makeCredentialStore(deps);
        const profiles = await listProfiles(deps);
        const logins: LoginStatus[] = [];
        for (const { origin, email, store: place } of await store.list()) {
          const names = profiles.filter(({ url }) => new URL(url).origin === origin).map(({ name }) => name);
          const isCurrent = origin === settings.server.origin;
          logins.push({
            ...(await statusOf(store, origin, place, deps.clock.now())),
            email: email ?? null,
            profiles: names,
            isCurrent,
          });
        }
        const fromEnv = deps.env["KB_TOKEN"] ? "KB_TOKEN" : deps.env["KB_TOKEN_FILE"] ? "KB_TOKEN_FILE" : undefined;
        const output = makeOutput(input, deps, settings.defaults);
        output.result({ logins, environment: fromEnv ?? null }, () => print(logins, output));
        if (fromEnv !== undefined) output.talk(`${fromEnv} is set: commands use that token instead.`);
        const isSignedIn =
          fromEnv !== undefined || logins.some(({ isCurrent, problem }) => isCurrent && problem === null);
        if (isSignedIn) return EXIT.ok;
        output.talk(`Not signed in to ${settings.server.baseUrl}. kb login ${settings.server.baseUrl}`);
        return EXIT.notSignedIn;
      },
    ),
  },
};
