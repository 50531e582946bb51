/** What a person signed in with, per origin, in one 0600 file. (The system's keychain comes with the OAuth login.) */
import { join } from "node:path";
import type { Deps } from "./deps.ts";
import { isReadableByOthers, parseObject, readStateFile, textOf, writeStateFile } from "./state-file.ts";

/** Everything stored for one origin. Each part may be missing. */
export interface StoredLogin {
  email?: string;
  /** `name=value` of the session cookie: the member's REST. */
  session?: string;
  /** A personal access token that was given with --with-token. */
  apiToken?: string;
  /** The `mcp:read` token of the bridge. */
  mcpToken?: { id: string; plaintext: string };
}

export interface CredentialStore {
  find(origin: string): Promise<StoredLogin | undefined>;
  /** Replaces what is stored for the origin. */
  save(origin: string, login: StoredLogin): Promise<void>;
  remove(origin: string): Promise<void>;
  /** Where the file is, for messages. */
  path: string;
}

/** The folder of the person's own kb settings: `KB_CONFIG_DIR`, else the system's place for them. */
export function configDir(deps: Pick<Deps, "env" | "home" | "platform">): string {
  const { env, home, platform } = deps;
  if (env["KB_CONFIG_DIR"]) return env["KB_CONFIG_DIR"];
  if (platform === "win32" && env["APPDATA"]) return join(env["APPDATA"], "kb");
  return join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "kb");
}

/** The store in the person's settings folder. A token leaves it only for the origin it was saved under. */
export function makeCredentialStore(deps: Pick<Deps, "env" | "home" | "platform">): CredentialStore {
  const path = join(configDir(deps), "credentials.json");

  async function readAll(): Promise<Record<string, unknown>> {
    const file = await readStateFile(path);
    // Written 0600 by us; somebody changed it since. Writing it again below puts the mode right.
    if (file !== undefined && (await isReadableByOthers(path, deps.platform))) await writeStateFile(path, file);
    const origins = file?.["origins"];
    return typeof origins === "object" && origins !== null ? { ...origins } : {};
  }

  return {
    path,
    async find(origin) {
      const all = await readAll();
      return Object.hasOwn(all, origin) ? readLogin(all[origin]) : undefined;
    },
    async save(origin, login) {
      await writeStateFile(path, { version: 1, origins: { ...(await readAll()), [origin]: login } });
    },
    async remove(origin) {
      const all = await readAll();
      delete all[origin];
      await writeStateFile(path, { version: 1, origins: all });
    },
  };
}

function readLogin(value: unknown): StoredLogin | undefined {
  const record = parseObject(JSON.stringify(value));
  if (record === undefined) return undefined;
  const login: StoredLogin = {};
  const email = textOf(record["email"]);
  const session = textOf(record["session"]);
  const apiToken = textOf(record["apiToken"]);
  const mcpToken = parseObject(JSON.stringify(record["mcpToken"] ?? null));
  if (email !== undefined) login.email = email;
  if (session !== undefined) login.session = session;
  if (apiToken !== undefined) login.apiToken = apiToken;
  const id = textOf(mcpToken?.["id"]);
  const plaintext = textOf(mcpToken?.["plaintext"]);
  if (id !== undefined && plaintext !== undefined) login.mcpToken = { id, plaintext };
  return login;
}
