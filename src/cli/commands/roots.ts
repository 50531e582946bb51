import { resolve } from "node:path";
import type { LocalRoot } from "#api/workspace.ts";
import { command, fieldsOf, type Noun } from "#cli/command.ts";
import { DATA_DIR, PASSWORD_STDIN } from "#cli/options.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { pickNamed } from "#cli/pick.ts";
import { bySession } from "#cli/by-session.ts";
import type { Api } from "#cli/api.ts";
import type { Deps } from "#cli/deps.ts";
import { operatorHeaders } from "#cli/operator.ts";
import { dataDirOf } from "#cli/quickstart/server.ts";
import { flexible } from "#cli/table.ts";

const DETAILS =
  "Run it on the server, as the user that runs it: reading its data folder proves that you are the operator. Your address proves nothing.";

const listRoots = command(
  {
    summary: "List the folders that connectors can read (owner, on the server).",
    details: DETAILS,
    options: [DATA_DIR, PASSWORD_STDIN],
    examples: ["kb roots list"],
    exitCodes: [4, 7],
    fields: [fieldsOf("get", "/api/local-roots", "roots")],
    isRemote: true,
  },
  async (input, deps) => {
    await bySession(input, deps, async (api) => {
      const answer = await api.get("/api/local-roots", await proofOf(api, input.options.dataDir, deps));
      const output = makeOutput(input, deps, api.settings.defaults);
      output.result(answer, () =>
        output.table(
          answer.roots,
          {
            id: (root) => root.id ?? "from the settings",
            path: flexible((root) => root.path),
            since: (root) => root.createdAt?.slice(0, 10) ?? "",
          },
          "Connectors can't read any folder on this machine. Allow one with kb roots add PATH.",
        ),
      );
    });
  },
);

const addRoot = command(
  {
    summary: "Allow connectors to read a folder (owner, on the server).",
    details: DETAILS,
    arguments: [{ name: "path", summary: "the folder", required: true }],
    options: [DATA_DIR, PASSWORD_STDIN],
    examples: ["kb roots add ~/projects"],
    exitCodes: [4, 7],
    fields: [fieldsOf("post", "/api/local-roots", "root")],
    isRemote: true,
  },
  async (input, deps) => {
    await bySession(input, deps, async (api) => {
      const body = { path: resolve(deps.cwd, input.args.path) };
      const proof = await proofOf(api, input.options.dataDir, deps);
      const answer = await api.post("/api/local-roots", { body, ...proof });
      const output = makeOutput(input, deps, api.settings.defaults);
      output.result(answer, () => output.talk(`Connectors can now read ${answer.root.path}.`));
    });
  },
);

const removeRoot = command(
  {
    summary: "Stop allowing a folder (owner, on the server).",
    details: DETAILS,
    arguments: [{ name: "root", summary: "its path or rot_…", required: true }],
    options: [DATA_DIR, PASSWORD_STDIN],
    examples: ["kb roots remove ~/projects"],
    exitCodes: [3, 4, 7],
    isRemote: true,
  },
  async (input, deps) => {
    await bySession(input, deps, async (api) => {
      const word = input.args.root;
      const proof = await proofOf(api, input.options.dataDir, deps);
      const { roots } = await api.get("/api/local-roots", proof);
      const found = rootNamed(roots, roots.some(({ id }) => id === word) ? word : resolve(deps.cwd, word));
      if (found.id === null) {
        throw new CliFailure({
          code: "not_found",
          exit: EXIT.notFound,
          message: `${found.path} comes from the server's settings (KB_LOCAL_ROOTS).`,
          hint: "Change it there.",
        });
      }
      await api.delete("/api/local-roots/{id}", { params: { path: { id: found.id } }, ...proof });
      makeOutput(input, deps).talk(`Connectors can no longer read ${found.path}.`);
    });
  },
);

/** From the named data folder, else from the one that `kb quickstart` recorded for this server. */
async function proofOf(
  api: Api,
  dataDir: string | undefined,
  deps: Deps,
): Promise<{ headers: Record<string, string> }> {
  const named = dataDir ?? (deps.env["KB_DATA_DIR"] || undefined) ?? api.settings.dataDir;
  return { headers: await operatorHeaders(dataDirOf(named, deps), deps) };
}

function rootNamed(roots: readonly LocalRoot[], word: string): LocalRoot {
  return pickNamed(roots, word, ({ id, path }) => ({ id: id ?? path, names: [path] }), {
    many: "allowed folders",
    none: `No allowed folder is "${word}".`,
    list: "kb roots list",
  });
}

export const roots: Noun = {
  summary: "Folders on the server that connectors can read.",
  verbs: {
    list: listRoots,
    add: addRoot,
    remove: removeRoot,
  },
};
