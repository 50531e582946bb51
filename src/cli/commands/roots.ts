import { resolve } from "node:path";
import type { LocalRoot } from "#api/workspace.ts";
import { argument, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { pickNamed } from "#cli/pick.ts";
import { bySession } from "./by-session.ts";

/** `kb roots list` */
export async function listRoots(input: CommandInput, deps: Deps): Promise<void> {
  await bySession(input, deps, async (api) => {
    const answer = await api.get("/api/local-roots");
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(answer, () =>
      output.table(
        answer.roots,
        [
          { title: "id", value: (root) => root.id ?? "from the settings" },
          { title: "path", value: (root) => root.path, isFlexible: true },
          { title: "since", value: (root) => root.createdAt?.slice(0, 10) ?? "" },
        ],
        "Connectors can't read any folder on this machine. Allow one with kb roots add PATH.",
      ),
    );
  });
}

/** `kb roots add PATH` */
export async function addRoot(input: CommandInput, deps: Deps): Promise<void> {
  await bySession(input, deps, async (api) => {
    const answer = await api.post("/api/local-roots", { body: { path: resolve(deps.cwd, argument(input, 0)) } });
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(answer, () => output.talk(`Connectors can now read ${answer.root.path}.`));
  });
}

/** `kb roots remove PATH|ID` */
export async function removeRoot(input: CommandInput, deps: Deps): Promise<void> {
  await bySession(input, deps, async (api) => {
    const word = argument(input, 0);
    const { roots } = await api.get("/api/local-roots");
    const found = rootNamed(roots, roots.some(({ id }) => id === word) ? word : resolve(deps.cwd, word));
    if (found.id === null) {
      throw new CliFailure({
        code: "not_found",
        exit: EXIT.notFound,
        message: `${found.path} comes from the server's settings (KB_LOCAL_ROOTS).`,
        hint: "Change it there.",
      });
    }
    await api.delete("/api/local-roots/{id}", { params: { path: { id: found.id } } });
    makeOutput(input, deps).talk(`Connectors can no longer read ${found.path}.`);
  });
}

function rootNamed(roots: readonly LocalRoot[], word: string): LocalRoot {
  return pickNamed(roots, word, ({ id, path }) => ({ id: id ?? path, names: [path] }), {
    many: "allowed folders",
    none: `No allowed folder is "${word}".`,
    list: "kb roots list",
  });
}
