/** Terminal prompts, on stderr so that stdout stays data. Loaded with the first prompt. */
import { defined } from "#core/defined.ts";
import type { Io, Prompts } from "#cli/host/deps.ts";
import { interrupted } from "#cli/host/failure.ts";

/** Makes prompts on this terminal; Ctrl-C in one ends the command with exit code 130. */
export function makePrompts(io: Pick<Io, "stdin" | "stderr">): Prompts {
  const streams = { input: io.stdin, output: io.stderr };
  return {
    async text(message, options = {}) {
      const { text } = await import("@clack/prompts");
      return answered(
        await text({
          message,
          ...streams,
          ...defined({ initialValue: options.initial, placeholder: options.placeholder }),
        }),
      );
    },
    async password(message) {
      const { password } = await import("@clack/prompts");
      return answered(await password({ message, ...streams }));
    },
    async confirm(message) {
      const { confirm } = await import("@clack/prompts");
      return answered(await confirm({ message, initialValue: false, ...streams }));
    },
    async select(message, choices) {
      const { select } = await import("@clack/prompts");
      return answered(await select({ message, options: [...choices], ...streams }));
    },
  };
}

function answered<T>(answer: T): Exclude<T, symbol> {
  // clack returns a symbol for Ctrl-C.
  if (typeof answer === "symbol") throw interrupted();
  // The value can't be a symbol after the line above, but the compiler doesn't narrow a type parameter.
  return answer as Exclude<T, symbol>;
}
