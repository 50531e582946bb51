import type { BodyOf } from "#api/client.ts";
import type { MyWorkspace, Workspace } from "#api/session.ts";
import type { InstanceInput, WorkspaceSettings } from "#api/workspace.ts";
import { plural } from "#api/plural.ts";
import type { Api } from "#cli/calls/api.ts";
import { command, type Noun, oneOf, type OptionsData, type OptionsOf, route, several } from "#cli/line/command.ts";
import { PASSWORD_STDIN } from "#cli/line/options.ts";
import { failure, usageFailure } from "#cli/host/failure.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import { byName, pickNamed } from "#cli/line/pick.ts";
import { bySession } from "#cli/sign-in/by-session.ts";
import { moveSession } from "#cli/sign-in/password-login.ts";
import { changes, parsePair } from "#cli/line/values.ts";
import { type Thing, callCommand, idOf, listCommand, remoteCommand } from "#cli/calls/remote-command.ts";
import { day, flexible, formatted } from "#cli/terminal/table.ts";

const TRUST_OPTIONS = {
  "--add-instance <source=url>": several(
    "let users of this instance be members, such as gitea=https://git.acme.test; may be repeated",
  ),
  "--remove-instance <source=url>": several("no longer let users of this instance be members; may be repeated"),
  "--add-identity-domain <domain>": several(
    "link members to source users by verified addresses of this domain (owners only); may be repeated",
  ),
  "--remove-identity-domain <domain>": several("no longer link members by this domain (owners only); may be repeated"),
} as const satisfies OptionsData;

/** Returns the lists after the change, because the server replaces whole lists. */
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
  const isIn = (all: readonly InstanceInput[], { providerId, baseUrl }: InstanceInput) =>
    all.some((each) => each.providerId === providerId && withoutSlash(each.baseUrl) === withoutSlash(baseUrl));
  const unknown = removed.find((each) => !isIn(own, each));
  if (unknown) {
    throw usageFailure(`${unknown.providerId}=${unknown.baseUrl} is not registered here.`, "kb workspace show");
  }
  const left = own.filter((each) => !isIn(removed, each)).map(({ providerId, baseUrl }) => ({ providerId, baseUrl }));
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

const WORKSPACE: Thing<MyWorkspace> = {
  name: "workspace",
  summary: "name or wsp_…",
  find: async (api, word) =>
    pickNamed(await api.list("/api/workspaces", "workspaces"), word, byName, {
      many: "workspaces",
      none: `You are not a member of a workspace "${word}".`,
      list: "kb workspace list",
    }),
  at: idOf,
};

function printSettings({ workspace }: { workspace: WorkspaceSettings }, { output }: { output: Output }): void {
  const { instances, identityDomains, maxAclAgeHours } = workspace;
  const nameOf = ({ providerId, baseUrl, setBy }: (typeof instances)[number]) =>
    `${providerId}=${baseUrl}${setBy === "operator" ? " (set by the operator)" : ""}`;
  output.record([
    ...factsOf(workspace),
    ["instances", instances.map(nameOf)],
    ["identity domains", identityDomains],
    ["max ACL age", plural(maxAclAgeHours, "hour")],
  ]);
}

function factsOf(workspace: Workspace): [string, string][] {
  return [
    ["id", workspace.id],
    ["name", workspace.name],
    ["time zone", workspace.timeZone],
    ["secrets in texts", workspace.secrets === "mask" ? "taken out" : "indexed as they are"],
    ["since", day(workspace.createdAt)],
  ];
}

export const workspace: Noun = {
  summary: "Your current workspace and your other workspaces.",
  verbs: {
    show: callCommand(
      "get",
      "/api/workspace",
      { summary: "Show your current workspace.", examples: ["kb workspace show"], key: "workspace" },
      printSettings,
    ),
    update: remoteCommand(
      {
        summary: "Change the workspace (admins only; owners only for identity domains).",
        options: {
          "--name <name>": "its name",
          "--time-zone <zone>": "such as Europe/Vienna",
          "--secrets <what>": oneOf(["mask", "index"], "remove tokens, keys and passwords from texts, or index them"),
          "--max-acl-age <hours>": "hide items not checked at their source for this many hours: 1 to 720 (default: 24)",
          ...TRUST_OPTIONS,
        },
        examples: [
          'kb workspace update --name "Acme"',
          "kb workspace update --add-instance gitea=https://git.acme.test",
          "kb workspace update --add-identity-domain acme.test",
        ],
        call: route("patch", "/api/workspace", "workspace"),
      },
      async ({ api, output, options, send }) => {
        const { name, timeZone, secrets, maxAclAge } = options;
        const answer = await send({
          body: changes("kb workspace update --help", {
            name,
            timeZone,
            secrets,
            maxAclAgeHours: maxAclAge === undefined ? undefined : Number(maxAclAge),
            ...(await trustChanges(api, options)),
          }),
        });
        output.result(answer, () => printSettings(answer, { output }));
      },
    ),
    list: listCommand("/api/workspaces", "workspaces", {
      summary: "List the workspaces that you are in.",
      examples: ["kb workspace list"],
      empty: "You are not a member of a workspace.",
      columns: {
        id: "id",
        name: flexible("name"),
        role: "role",
        joined: formatted(day, "joinedAt"),
        "in use": ({ current }) => (current ? "yes" : ""),
      },
    }),
    create: command(
      {
        summary: "Create a workspace that you own.",
        details: "Tokens can't do this; after a browser login kb asks for your password.",
        arguments: { "<name>": "its name" },
        options: { "--time-zone <zone>": "such as Europe/Vienna", ...PASSWORD_STDIN },
        examples: ['kb workspace create "Acme labs"'],
        exitCodes: [4, 5, 7],
        fields: [route("post", "/api/workspaces", "workspace")],
        isRemote: true,
      },
      async (input, deps) => {
        const body = { name: input.args.name, timeZone: input.options.timeZone };
        const answer = await bySession(input, deps, (api) => api.post("/api/workspaces", { body }));
        const output = makeOutput(input, deps);
        output.result(answer, ({ workspace }) => {
          output.record(factsOf(workspace));
          return `You own "${workspace.name}". To work in it: kb workspace use ${workspace.id}`;
        });
      },
    ),
    /** `kb workspace use WORKSPACE`: switches a session to that workspace. A browser login is for one workspace, which is chosen when signing in. */
    use: remoteCommand(
      {
        summary: "Switch to another of your workspaces.",
        details: "A browser login is for one workspace: sign in again to choose another.",
        of: WORKSPACE,
        examples: ['kb workspace use "Acme labs"'],
        exitCodes: [5],
        fields: [route("post", "/api/session/workspace")],
      },
      async ({ api, output, found: { id, name, current }, deps }) => {
        if (current) return output.talk(`You are already in "${name}".`);
        if (api.credential?.kind !== "session") {
          throw failure(
            "conflict",
            "workspace_is_fixed",
            `Your login is for the workspace that you chose in the browser, not for "${name}".`,
            `kb login ${api.settings.server.baseUrl}, and choose "${name}" there.`,
          );
        }
        const session = await moveSession(deps, api, id);
        output.result(session, ({ workspace, role }) => `Switched to "${workspace.name}" (${role}).`);
      },
    ),
  },
};
