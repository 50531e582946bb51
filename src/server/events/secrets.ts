import type { RandomBytes } from "#core/clock.ts";
import type { EventTargetRecord } from "#storage/records/event-targets.ts";
import type { SealedPlace, Vault } from "#storage/vault.ts";
import { makeSigningSecret } from "./signature.ts";

/** What a target's deliveries are signed with, as its row has it. */
export type SealedSecrets = Pick<EventTargetRecord, "sealed" | "previousUntil">;

/** Keeps the secrets of targets; a plaintext leaves only when it is made. */
export type TargetSecrets = ReturnType<typeof makeTargetSecrets>;

export interface TargetPlace {
  workspaceId: string;
  targetId: string;
}

interface Kept {
  secret: string;
  previous: string | null;
}

/** Makes the keeper of them. */
export function makeTargetSecrets({ vault, randomBytes }: { vault: Vault; randomBytes: RandomBytes }) {
  const seal = (place: TargetPlace, kept: Kept) => vault.seal(placeOf(place), JSON.stringify(kept));
  // Sealed by `seal` only.
  const read = (place: TargetPlace, { sealed }: SealedSecrets) =>
    JSON.parse(vault.open(placeOf(place), sealed)) as Kept;

  return {
    make(place: TargetPlace): SealedSecrets & { secret: string } {
      const secret = makeSigningSecret(randomBytes);
      return { secret, sealed: seal(place, { secret, previous: null }), previousUntil: null };
    },
    /** A new secret; the one before signs too until then, older ones no more. */
    rotate(
      place: TargetPlace,
      before: SealedSecrets,
      previousUntil: number | null,
    ): SealedSecrets & { secret: string } {
      const secret = makeSigningSecret(randomBytes);
      const previous = previousUntil === null ? null : read(place, before).secret;
      return { secret, sealed: seal(place, { secret, previous }), previousUntil };
    },
    /** Those that sign now, the newest first. @throws ApiError `secret_unreadable` */
    open(place: TargetPlace, target: SealedSecrets, now: number): string[] {
      const { secret, previous } = read(place, target);
      const isOverlapping = previous !== null && target.previousUntil !== null && target.previousUntil > now;
      return isOverlapping ? [secret, previous] : [secret];
    },
    /** Without the secret before. */
    forgetPrevious(place: TargetPlace, target: SealedSecrets): SealedSecrets {
      const { secret } = read(place, target);
      return { sealed: seal(place, { secret, previous: null }), previousUntil: null };
    },
  };
}

function placeOf({ workspaceId, targetId }: TargetPlace): SealedPlace {
  return { table: "event_targets", row: [workspaceId, targetId], column: "sealed" };
}
