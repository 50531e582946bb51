import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { SourceContext } from "./context.ts";

/**
 * Makes principals for users of the connector's instance and for groups of the connector, from their ids at the source.
 */
export function principalsOf({ connector }: Pick<SourceContext<unknown>, "connector">, providerId: string) {
  const instance = connector.instance ?? connector.id;
  return {
    user: (id: string | number): Principal =>
      formatPrincipal({ type: "source_user", providerId, instance, id: String(id) }),
    group: (id: string): Principal => sourceGroup(connector.id, id),
  };
}

export function sourceGroup(connectorId: string, id: string): Principal {
  return formatPrincipal({ type: "source_group", connectorId, id });
}
