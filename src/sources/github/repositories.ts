import type { ForgeContent, ForgeListing, ForgeRepository } from "#sources/forge/contract.ts";
import { refusalOf } from "#sources/failures.ts";
import type { GithubClient, Me } from "./client.ts";
import { type GithubConfig, webUrlOf } from "./config.ts";
import type { RepositoryRecord } from "./records.ts";
import { reasonOf, SSO_REASON } from "./reasons.ts";

type Listed = Awaited<ReturnType<GithubClient["ownRepositories"]>>;

export interface Closed {
  name: string;
  code: ForgeListing["closed"][number]["code"];
  /** The missing permission, if GitHub reports it. */
  reason?: string | undefined;
  /** The id of an organization whose name GitHub hides too. */
  ownerId?: string;
}

/** Returns the records that the config includes, each once, and those that GitHub hides. */
export async function listRecords(
  client: GithubClient,
  { repositories: names }: Pick<GithubConfig, "repositories">,
): Promise<{ records: RepositoryRecord[]; closed: Closed[]; odd: string[]; isWhole: boolean }> {
  const closed = new Map<string, Closed>();
  const found = new Map<number, RepositoryRecord>();
  const withheld = new Set<string>();
  const odd = new Set<string>();
  let isWhole = true;
  const take = (listed: Listed, isWanted: (record: RepositoryRecord) => boolean = () => true) => {
    const { records, withheld: some } = listed;
    for (const id of listed.odd) odd.add(id);
    isWhole &&= listed.isWhole;
    for (const record of records) if (isWanted(record)) found.set(record.id, record);
    for (const id of some) withheld.add(id);
  };
  let memberships: Promise<Listed> | undefined;
  let speaker: Promise<Me> | undefined;
  const me = async () => (speaker ??= client.me());
  const readOwn = async () =>
    (memberships ??= me().then(({ type }) =>
      type === "user" ? client.ownRepositories() : client.installedRepositories(),
    ));
  if (names.length === 0) take(await readOwn());
  for (const name of names) {
    try {
      if (name.includes("/")) {
        const record = await client.repositoryNamed(name);
        found.set(record.id, record);
      } else {
        const { isOrganization, ...some } = await client.repositoriesOf(name);
        take(some);
        // The listing of a person's repositories shows only public ones, and the listing for an app leaves out internal
        // ones.
        if (!isOrganization || (await me()).type === "installation")
          take(await readOwn(), ({ owner }) => owner.login.toLowerCase() === name.toLowerCase());
      }
    } catch (error) {
      const code = refusalOf(error);
      if (code === undefined) throw error;
      closed.set(name, { name, code, reason: reasonOf(error) });
    }
  }
  for (const id of withheld) {
    const login = await nameOf(client, id);
    const name = login ?? `organization ${id}`;
    const isAsked = login === undefined || names.some((each) => each.toLowerCase() === login.toLowerCase());
    if (names.length > 0 && !isAsked) continue;
    closed.set(name, {
      name,
      code: "source_forbidden",
      reason: SSO_REASON,
      ...(login === undefined && { ownerId: id }),
    });
  }
  for (const id of found.keys()) odd.delete(String(id));
  const records = [...found.values()].sort((a, b) => a.id - b.id);
  return { records, closed: [...closed.values()], odd: [...odd], isWhole };
}

async function nameOf(client: GithubClient, id: string): Promise<string | undefined> {
  try {
    return (await client.organizationById(id)).login;
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

export function toRepository(record: RepositoryRecord, config: GithubConfig): ForgeRepository {
  const { id, full_name: fullName, owner, default_branch: branch, has_issues: hasIssues } = record;
  const has: Record<ForgeContent, boolean> = { issues: hasIssues !== false, pulls: true, files: true };
  return {
    id: String(id),
    fullName,
    owner: { id: String(owner.id), login: owner.login },
    webUrl: `${webUrlOf(config)}/${fullName.split("/").map(encodeURIComponent).join("/")}`,
    content: new Set(config.content.filter((each) => has[each])),
    ...(branch && { branch }),
  };
}
