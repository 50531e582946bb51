import { resolve } from "node:path";
import { route, type Command, type CommandData, type InputOf, type Noun } from "#cli/line/command.ts";
import { DATA_DIR, PASSWORD_STDIN } from "#cli/line/options.ts";
import { failure } from "#cli/host/failure.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import { pickNamed } from "#cli/line/pick.ts";
import { bySession } from "#cli/sign-in/by-session.ts";
import type { Api } from "#cli/calls/api.ts";
import type { Deps } from "#cli/host/deps.ts";
import { operatorHeaders } from "#cli/calls/operator.ts";
import { dataDirOf } from "#cli/quickstart/server.ts";
import { day, flexible, formatted } from "#cli/terminal/table.ts";

const OPTIONS = { ...DATA_DIR, ...PASSWORD_STDIN } as const;

interface Rooted {
  api: Api;
  output: Output;
  deps: Deps;
  /** The proof that the person is the operator. */
  proof: { headers: Record<string, string> };
}

/** Makes a command that runs with a session and proves that the person is the operator. */
function rootCommand<const D extends CommandData>(
  data: D,
  run: (rooted: InputOf<D> & Rooted) => Promise<void>,
): Command {
  return {
    ...data,
    details:
      "Run it on the server, as the user that runs it: reading its data folder proves that you are the operator. Your address proves nothing.",
    options: OPTIONS,
    exitCodes: [...(data.exitCodes ?? []), 4, 7],
    isRemote: true,
    async run(input: InputOf<D> & InputOf<{ options: typeof OPTIONS }>, deps) {
      await bySession(input, deps, async (api) => {
        const proof = await proofOf(api, input.options.dataDir, deps);
        await run({ ...input, api, output: makeOutput(input, deps, api.settings.defaults), deps, proof });
      });
    },
  };
}

/** Makes the proof from the data folder in the options, otherwise from the one that `kb quickstart` recorded for this server. */
async function proofOf(
  api: Api,
  dataDir: string | undefined,
  deps: Deps,
): Promise<{ headers: Record<string, string> }> {
  const named = dataDir ?? (deps.env["KB_DATA_DIR"] || undefined) ?? api.settings.dataDir;
  return { headers: await operatorHeaders(dataDirOf(named, deps), deps) };
}

export const roots: Noun = {
  summary: "Folders on the server that connectors can read.",
  verbs: {
    list: rootCommand(
      {
        summary: "List the folders that connectors can read (owners only, on the server's machine).",
        examples: ["kb roots list"],
        fields: [route("get", "/api/local-roots", "roots")],
      },
      async ({ api, output, proof }) =>
        output.result(await api.get("/api/local-roots", proof), ({ roots }) =>
          output.table(
            roots,
            {
              id: ({ id }) => id ?? "from the settings",
              path: flexible("path"),
              since: formatted(day, "createdAt"),
            },
            "Connectors can't read any folder on this machine. Allow one with kb roots add PATH.",
          ),
        ),
    ),
    add: rootCommand(
      {
        summary: "Allow connectors to read a folder (owners only, on the server's machine).",
        arguments: { "<path>": "the folder" },
        examples: ["kb roots add ~/projects"],
        fields: [route("post", "/api/local-roots", "root")],
      },
      async ({ api, output, args, deps, proof }) => {
        const body = { path: resolve(deps.cwd, args.path) };
        const answer = await api.post("/api/local-roots", { body, ...proof });
        output.result(answer, ({ root }) => `Connectors can now read ${root.path}.`);
      },
    ),
    remove: rootCommand(
      {
        summary: "Stop allowing a folder (owners only, on the server's machine).",
        arguments: { "<root>": "its path or rot_…" },
        examples: ["kb roots remove ~/projects"],
        exitCodes: [3],
      },
      async ({ api, output, args: { root: word }, deps, proof }) => {
        const { roots } = await api.get("/api/local-roots", proof);
        const name = roots.some(({ id }) => id === word) ? word : resolve(deps.cwd, word);
        const { id, path } = pickNamed(roots, name, ({ id, path }) => ({ id: id ?? path, names: [path] }), {
          many: "allowed folders",
          none: `No allowed folder is "${name}".`,
          list: "kb roots list",
        });
        if (id === null) {
          const message = `${path} comes from the server's settings (KB_LOCAL_ROOTS).`;
          throw failure("notFound", "not_found", message, "Change it there.");
        }
        await api.delete("/api/local-roots/{id}", { params: { path: { id } }, ...proof });
        output.talk(`Connectors can no longer read ${path}.`);
      },
    ),
  },
};
