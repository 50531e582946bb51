import type { Parts } from "#storage/records/parts.ts";
import type { EventTargetRecord } from "#storage/records/event-targets.ts";
import { sealedIn } from "#storage/vault.ts";
import { makeSigningSecret } from "./signature.ts";

/** The secrets that sign a target's deliveries, as stored in the target's row. */
export type SealedSecrets = Pick<EventTargetRecord, "sealed" | "previousUntil">;

/** Manages the secrets of targets. A secret's plaintext is returned only when the secret is made. */
export type TargetSecrets = ReturnType<typeof makeTargetSecrets>;

export interface TargetPlace {
  workspaceId: string;
  targetId: string;
}

interface Kept {
  secret: string;
  previous: string | null;
}

/** Makes the manager of target secrets. */
export function makeTargetSecrets({ vault, randomBytes }: Pick<Parts, "randomBytes" | "vault">) {
  const seal = ({ workspaceId, targetId }: TargetPlace, kept: Kept) =>
    vault.seal(placeOf(workspaceId, targetId), JSON.stringify(kept));
  // Only `seal` writes this value.
  const read = ({ workspaceId, targetId }: TargetPlace, { sealed }: SealedSecrets) =>
    JSON.parse(vault.open(placeOf(workspaceId, targetId), sealed)) as Kept;

  return {
    make(place: TargetPlace): SealedSecrets & { secret: string } {
      const secret = makeSigningSecret(randomBytes);
      return { secret, sealed: seal(place, { secret, previous: null }), previousUntil: null };
    },
    /**
     * Makes a new secret. Until `previousUntil`, deliveries are signed with the previous secret too. Older secrets no
     * longer sign.
     */
    rotate(
      place: TargetPlace,
      before: SealedSecrets,
      previousUntil: number | null,
    ): SealedSecrets & { secret: string } {
      const secret = makeSigningSecret(randomBytes);
      const previous = previousUntil === null ? null : read(place, before).secret;
      return { secret, sealed: seal(place, { secret, previous }), previousUntil };
    },
    /** Returns the secrets that sign at this time, newest first. @throws ApiError `secret_unreadable` */
    open(place: TargetPlace, target: SealedSecrets, now: number): string[] {
      const { secret, previous } = read(place, target);
      const isOverlapping = previous !== null && target.previousUntil !== null && target.previousUntil > now;
      return isOverlapping ? [secret, previous] : [secret];
    },
    /** Drops the previous secret. */
    forgetPrevious(place: TargetPlace, target: SealedSecrets): SealedSecrets {
      const { secret } = read(place, target);
      return { sealed: seal(place, { secret, previous: null }), previousUntil: null };
    },
  };
}

const placeOf = sealedIn("event_targets");
