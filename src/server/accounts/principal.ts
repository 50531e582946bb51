import { instanceName } from "#core/base-url.ts";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { AccountProvider, SourceAccount } from "#sources/account-contract.ts";

/** The account's principal in access lists, the same as the provider's sources report for that user. */
export function principalOf(
  { providerId, usersOf = providerId }: AccountProvider,
  instance: string,
  { id, tenantId }: SourceAccount,
): Principal {
  return formatPrincipal({ type: "source_user", providerId: usersOf, instance: instanceName(instance, tenantId), id });
}
