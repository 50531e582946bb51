/** The real process as the dependencies of commands. */
import { resolve } from "node:path";
import type { Deps, Prompts } from "#cli/host/deps.ts";
import { makeHost } from "#cli/host/host.ts";

/** Makes the dependencies from this process; ends it through `exit`, see `makeHost`. */
export function makeDeps(host: NodeJS.Process, exit: (code: number) => void): Deps {
  return {
    ...makeHost(host, exit),
    prompts: lazyPrompts(host),
    // Not imported statically, because few commands need it and it would cost each start 8 ms.
    randomBytes: (count) => process.getBuiltinModule("node:crypto").randomBytes(count),
    openUrl: async (address) => (await import("#cli/sign-in/browser.ts")).openInBrowser(address, host.platform),
    program: { command: host.execPath, prefix: [...host.execArgv, resolve(host.argv[1] ?? "")] },
  };
}

function lazyPrompts(host: NodeJS.Process): Prompts {
  const load = async (): Promise<Prompts> => {
    const { makePrompts } = await import("#cli/terminal/prompts.ts");
    return makePrompts({ stdin: host.stdin, stderr: host.stderr });
  };
  return {
    text: async (...args) => (await load()).text(...args),
    password: async (...args) => (await load()).password(...args),
    confirm: async (...args) => (await load()).confirm(...args),
    select: async (...args) => (await load()).select(...args),
  };
}
