import { principalsOf } from "#sources/principals.ts";
import { type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";

/** Makes principals of people and groups. Undefined for ids that can't be part of a principal. */
export function makeNames(ctx: Pick<SourceContext<unknown>, "connector">, providerId: string) {
  const principals = principalsOf(ctx, providerId);
  const orNobody = (make: () => Principal): Principal | undefined => {
    try {
      return make();
    } catch (error) {
      // An id that can't be part of a principal matches no one.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
  return {
    user: (id: string | undefined) => (id === undefined || id === "" ? undefined : orNobody(() => principals.user(id))),
    group: (id: string) => orNobody(() => principals.group(id)),
  };
}
export type Names = ReturnType<typeof makeNames>;
