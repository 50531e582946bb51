import type { BodyOf } from "#api/client.ts";
import type { MyWorkspace, Workspace } from "#api/session.ts";
import type { InstanceInput, WorkspaceSettings } from "#api/workspace.ts";
import { plural } from "#api/plural.ts";
import { isEmpty, type Api } from "#cli/api.ts";
import { command, fieldsOf, type Noun, type OptionData, type OptionsOf } from "#cli/command.ts";
import { PASSWORD_STDIN } from "#cli/options.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure, usageFailure } from "#cli/failure.ts";
import { makeOutput, type Output } from "#cli/output.ts";
import { pickNamed } from "#cli/pick.ts";
import { bySession } from "#cli/by-session.ts";
import { moveSession } from "#cli/password-login.ts";
import { parsePair } from "#cli/values.ts";
import { listCommand, remoteCommand } from "#cli/remote-command.ts";

const showWorkspace = remoteCommand(
  {
    summary: "Show your current workspace.",
    examples: ["kb workspace show"],
    fields: [fieldsOf("get", "/api/workspace", "workspace")],
  },
  async ({ api, output }) => {
    const answer = await api.get("/api/workspace");
    output.result(answer, () => printSettings(answer.workspace, output));
  },
);

const TRUST_OPTIONS = [
  {
    flags: "--add-instance <source=url>",
    summary: "let users of this instance be members, such as gitea=https://git.acme.test; may be repeated",
    repeatable: true,
  },
  { flags: "--remove-instance <source=url>", summary: "no longer let them; may be repeated", repeatable: true },
  {
    flags: "--add-identity-domain <domain>",
    summary: "link members to source users by verified addresses of this domain (owner); may be repeated",
    repeatable: true,
  },
  { flags: "--remove-identity-domain <domain>", summary: "no longer do (owner); may be repeated", repeatable: true },
] as const satisfies readonly OptionData[];

/** The resulting lists: the server takes whole ones. */
async function trustChanges(
  api: Api,
  options: OptionsOf<typeof TRUST_OPTIONS>,
): Promise<Pick<BodyOf<"patch", "/api/workspace">, "instances" | "identityDomains">> {
  const added = options.addInstance.map((pair) => toInstance(pair, "--add-instance"));
  const removed = options.removeInstance.map((pair) => toInstance(pair, "--remove-instance"));
  const { addIdentityDomain, removeIdentityDomain } = options;
  const changesInstances = added.length + removed.length > 0;
  const changesDomains = addIdentityDomain.length + removeIdentityDomain.length > 0;
  if (!changesInstances && !changesDomains) return {};
  const { workspace } = await api.get("/api/workspace");
  const own = workspace.instances.filter(({ setBy }) => setBy === "workspace");
  const isRemoved = ({ providerId, baseUrl }: InstanceInput) =>
    removed.some((each) => each.providerId === providerId && withoutSlash(each.baseUrl) === withoutSlash(baseUrl));
  const unknown = removed.find(
    (each) =>
      !own.some(
        (known) => known.providerId === each.providerId && withoutSlash(known.baseUrl) === withoutSlash(each.baseUrl),
      ),
  );
  if (unknown) {
    throw usageFailure(`${unknown.providerId}=${unknown.baseUrl} is not registered here.`, "kb workspace show");
  }
  const left = own.filter((each) => !isRemoved(each)).map(({ providerId, baseUrl }) => ({ providerId, baseUrl }));
  const domains = workspace.identityDomains.filter((domain) => !removeIdentityDomain.includes(domain));
  return {
    instances: changesInstances ? [...left, ...added] : undefined,
    identityDomains: changesDomains ? [...domains, ...addIdentityDomain] : undefined,
  };
}

function toInstance(pair: string, option: string): InstanceInput {
  const [providerId, baseUrl] = parsePair(pair, option);
  return { providerId, baseUrl };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

const updateWorkspace = remoteCommand(
  {
    summary: "Change the workspace (admin; identity domains: owner).",
    options: [
      { flags: "--name <name>", summary: "its name" },
      { flags: "--time-zone <zone>", summary: "such as Europe/Vienna" },
      {
        flags: "--secrets <what>",
        summary: "remove tokens, keys and passwords from texts, or index them",
        choices: ["mask", "index"],
      },
      {
        flags: "--max-acl-age <hours>",
        summary: "hide what was not checked at its source for so long: 1 to 720 (default: 24)",
      },
      ...TRUST_OPTIONS,
    ],
    examples: [
      'kb workspace update --name "Acme"',
      "kb workspace update --add-instance gitea=https://git.acme.test",
      "kb workspace update --add-identity-domain acme.test",
    ],
    fields: [fieldsOf("patch", "/api/workspace", "workspace")],
  },
  async ({ api, output, options }) => {
    const body: BodyOf<"patch", "/api/workspace"> = {
      name: options.name,
      timeZone: options.timeZone,
      secrets: options.secrets,
      ...(options.maxAclAge !== undefined && { maxAclAgeHours: Number(options.maxAclAge) }),
      ...(await trustChanges(api, options)),
    };
    if (isEmpty(body)) throw usageFailure("Nothing to change.", "kb workspace update --help");
    const answer = await api.patch("/api/workspace", { body });
    output.result(answer, () => printSettings(answer.workspace, output));
  },
);

const listWorkspaces = listCommand({
  summary: "List the workspaces that you are in.",
  examples: ["kb workspace list"],
  path: "/api/workspaces",
  key: "workspaces",
  empty: "You are not a member of a workspace.",
  columns: {
    id: (item) => item.id,
    name: { value: (item) => item.name, isFlexible: true },
    role: (item) => item.role,
    joined: (item) => item.joinedAt.slice(0, 10),
    "in use": (item) => (item.current ? "yes" : ""),
  },
});

const createWorkspace = command(
  {
    summary: "Create a workspace that you own.",
    details: "Tokens can't do this; after a browser login kb asks for your password.",
    arguments: [{ name: "name", summary: "its name", required: true }],
    options: [{ flags: "--time-zone <zone>", summary: "such as Europe/Vienna" }, PASSWORD_STDIN],
    examples: ['kb workspace create "Acme labs"'],
    exitCodes: [4, 5, 7],
    fields: [fieldsOf("post", "/api/workspaces", "workspace")],
    isRemote: true,
  },
  async (input, deps) => {
    const body: BodyOf<"post", "/api/workspaces"> = {
      name: input.args.name,
      timeZone: input.options.timeZone,
    };
    const answer = await bySession(input, deps, (api) => api.post("/api/workspaces", { body }));
    const output = makeOutput(input, deps);
    output.result(answer, () => {
      printWorkspace(answer.workspace, output);
      output.talk(`You own "${answer.workspace.name}". To work in it: kb workspace use ${answer.workspace.id}`);
    });
  },
);

/** `kb workspace use WORKSPACE`: moves a session there; a browser login is for one workspace, chosen when signing in. */
const useWorkspace = remoteCommand(
  {
    summary: "Switch to another of your workspaces.",
    details: "A browser login is for one workspace: sign in again to choose another.",
    arguments: [{ name: "workspace", summary: "name or wsp_…", required: true }],
    examples: ['kb workspace use "Acme labs"'],
    exitCodes: [3, 5],
    fields: [fieldsOf("post", "/api/session/workspace")],
  },
  async ({ api, output, args, deps }) => {
    const workspace = await findWorkspace(await api.list("/api/workspaces", "workspaces"), args.workspace);
    if (workspace.current) {
      output.talk(`You are already in "${workspace.name}".`);
      return;
    }
    if (api.credential?.kind !== "session") {
      throw new CliFailure({
        code: "workspace_is_fixed",
        exit: EXIT.conflict,
        message: `Your login is for the workspace that you chose in the browser, not for "${workspace.name}".`,
        hint: `kb login ${api.settings.server.baseUrl}, and choose "${workspace.name}" there.`,
      });
    }
    const session = await moveSession(deps, api, workspace.id);
    output.result(session, () => output.talk(`Switched to "${session.workspace.name}" (${session.role}).`));
  },
);

function findWorkspace(all: readonly MyWorkspace[], word: string): MyWorkspace {
  return pickNamed(all, word, ({ id, name }) => ({ id, names: [name] }), {
    many: "workspaces",
    none: `You are not a member of a workspace "${word}".`,
    list: "kb workspace list",
  });
}

function printWorkspace(workspace: Workspace, output: Output): void {
  output.record(factsOf(workspace));
}

function printSettings(workspace: WorkspaceSettings, output: Output): void {
  const { instances, identityDomains, maxAclAgeHours } = workspace;
  output.record([
    ...factsOf(workspace),
    [
      "instances",
      instances
        .map(
          ({ providerId, baseUrl, setBy }) =>
            `${providerId}=${baseUrl}${setBy === "operator" ? " (set by the operator)" : ""}`,
        )
        .join(", "),
    ],
    ["identity domains", identityDomains.join(", ")],
    ["max ACL age", plural(maxAclAgeHours, "hour")],
  ]);
}

function factsOf(workspace: Workspace): [string, string][] {
  return [
    ["id", workspace.id],
    ["name", workspace.name],
    ["time zone", workspace.timeZone],
    ["secrets in texts", workspace.secrets === "mask" ? "taken out" : "indexed as they are"],
    ["since", workspace.createdAt.slice(0, 10)],
  ];
}

export const workspace: Noun = {
  summary: "Your current workspace, and your others.",
  verbs: {
    show: showWorkspace,
    update: updateWorkspace,
    list: listWorkspaces,
    create: createWorkspace,
    use: useWorkspace,
  },
};
