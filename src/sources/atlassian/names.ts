import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";

/** Makes principals of people and groups; undefined for ids that can't be part of a principal. */
export function makeNames({ connector }: Pick<SourceContext<unknown>, "connector">, providerId: string) {
  const instance = connector.instance ?? connector.id;
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
    user: (id: string | undefined) =>
      id === undefined || id === ""
        ? undefined
        : orNobody(() => formatPrincipal({ type: "source_user", providerId, instance, id })),
    group: (id: string) => orNobody(() => formatPrincipal({ type: "source_group", connectorId: connector.id, id })),
  };
}
export type Names = ReturnType<typeof makeNames>;
