/** The servers that a person has saved by name in their own file: lists, chooses, saves and deletes them. */
import { isLoopbackHost, type ServerUrl } from "#api/server-url.ts";
import { defined } from "#core/defined.ts";
import { type Profile, profileNamed, readUserFile, type SettingsDeps, userFilePath } from "./settings.ts";
import { writeStateFile } from "#cli/host/state-file.ts";

/** Returns this person's profiles and the current one. */
export async function listProfiles(deps: SettingsDeps): Promise<{ name: string; url: string; isCurrent: boolean }[]> {
  const { currentProfile, profiles } = await readUserFile(deps);
  return Object.entries(profiles).map(([name, { url }]) => ({ name, url, isCurrent: name === currentProfile }));
}

/** Returns the name of the profile that `word` matches, in any case. Throws CliFailure 3 when there is none, 2 for several. */
export async function findProfile(deps: SettingsDeps, word: string): Promise<string> {
  return profileNamed(word, await readUserFile(deps));
}

/** Makes the profile with exactly this name the current one, or deletes it. */
export async function changeProfile(deps: SettingsDeps, name: string, act: "use" | "remove"): Promise<void> {
  const user = await readUserFile(deps);
  const profiles = { ...user.profiles };
  if (act === "remove") delete profiles[name];
  const current = act === "use" ? name : user.currentProfile === name ? undefined : user.currentProfile;
  await writeStateFile(userFilePath(deps), {
    version: 1,
    ...defined({ currentProfile: current }),
    profiles,
  });
}

/**
 * Saves the server as a profile and makes it the current one.
 *
 * @param of.name     default: the server's existing one, else its host
 * @param of.dataDir  the data folder of a server that was started here; kept while the address stays the same
 */
export async function saveProfile(
  deps: SettingsDeps,
  server: ServerUrl,
  of: { name?: string | undefined; dataDir?: string } = {},
): Promise<string> {
  const user = await readUserFile(deps);
  const existing = Object.entries(user.profiles).find(([, profile]) => profile.url === server.baseUrl)?.[0];
  const name = of.name ?? existing ?? profileName(server, user.profiles);
  const former = user.profiles[name];
  const dataDir = of.dataDir ?? (former?.url === server.baseUrl ? former.dataDir : undefined);
  const profile: Profile = {
    url: server.baseUrl,
    ...defined({ dataDir }),
    ...(former?.defaults === undefined ? {} : { defaults: former.defaults }),
  };
  await writeStateFile(userFilePath(deps), {
    version: 1,
    currentProfile: name,
    profiles: { ...user.profiles, [name]: profile },
  });
  return name;
}

function profileName(server: ServerUrl, taken: Record<string, Profile>): string {
  const { hostname, port } = new URL(server.baseUrl);
  const name = isLoopbackHost(hostname) ? "local" : hostname;
  return taken[name] === undefined ? name : `${name}-${port || "443"}`;
}
