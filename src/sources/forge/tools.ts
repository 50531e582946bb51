import type { Failures } from "#sources/failures.ts";
import type { Waits } from "#sources/waits.ts";
import type { Forge } from "./contract.ts";
import type { ForgeFiles } from "./files.ts";
import type { ForgeFacts } from "./map.ts";

/** What a run works with. */
export interface ForgeTools {
  forge: Forge;
  facts: ForgeFacts;
  files: ForgeFiles;
  failures: Failures;
  waits: Waits;
  /** Items between two checkpoints. */
  batch?: number;
}
