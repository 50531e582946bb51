import type { BodyOf } from "#api/client.ts";
import type { MyWorkspace, Workspace } from "#api/session.ts";
import { connect, isEmpty } from "#cli/api.ts";
import { argument, textOption, wordOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure, usageFailure } from "#cli/failure.ts";
import { makeOutput, type Output } from "#cli/output.ts";
import { pickNamed } from "#cli/pick.ts";
import { bySession } from "./by-session.ts";
import { moveSession } from "./password-login.ts";

/** `kb workspace show` */
export async function showWorkspace(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.get("/api/workspace");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => printWorkspace(answer.workspace, output));
}

/** `kb workspace update` */
export async function updateWorkspace(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const body: BodyOf<"patch", "/api/workspace"> = {
    name: textOption(input, "name"),
    timeZone: textOption(input, "timeZone"),
    secrets: wordOption(input, "secrets"),
  };
  if (isEmpty(body)) throw usageFailure("Nothing to change.", "kb workspace update --help");
  const answer = await api.patch("/api/workspace", { body });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => printWorkspace(answer.workspace, output));
}

/** `kb workspace list` */
export async function listWorkspaces(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const workspaces = await api.list("/api/workspaces", "workspaces");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result({ workspaces, nextCursor: null }, () =>
    output.table(
      workspaces,
      [
        { title: "id", value: (item) => item.id },
        { title: "name", value: (item) => item.name, isFlexible: true },
        { title: "role", value: (item) => item.role },
        { title: "joined", value: (item) => item.joinedAt.slice(0, 10) },
        { title: "in use", value: (item) => (item.current ? "yes" : "") },
      ],
      "You are not a member of a workspace.",
    ),
  );
}

/** `kb workspace create NAME` */
export async function createWorkspace(input: CommandInput, deps: Deps): Promise<void> {
  const body: BodyOf<"post", "/api/workspaces"> = {
    name: argument(input, 0),
    timeZone: textOption(input, "timeZone"),
  };
  const answer = await bySession(input, deps, (api) => api.post("/api/workspaces", { body }));
  const output = makeOutput(input, deps);
  output.result(answer, () => {
    printWorkspace(answer.workspace, output);
    output.talk(`You own "${answer.workspace.name}". To work in it: kb workspace use ${answer.workspace.id}`);
  });
}

/** `kb workspace use WORKSPACE`: a session moves there; a login by browser is for one workspace, chosen when signing in. */
export async function useWorkspace(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const workspace = await findWorkspace(await api.list("/api/workspaces", "workspaces"), argument(input, 0));
  const output = makeOutput(input, deps, api.settings.defaults);
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
}

function findWorkspace(all: readonly MyWorkspace[], word: string): MyWorkspace {
  return pickNamed(all, word, ({ id, name }) => ({ id, names: [name] }), {
    many: "workspaces",
    none: `You are not a member of a workspace "${word}".`,
    list: "kb workspace list",
  });
}

function printWorkspace(workspace: Workspace, output: Output): void {
  output.record([
    ["id", workspace.id],
    ["name", workspace.name],
    ["time zone", workspace.timeZone],
    ["secrets in texts", workspace.secrets === "mask" ? "taken out" : "indexed as they are"],
    ["since", workspace.createdAt.slice(0, 10)],
  ]);
}
