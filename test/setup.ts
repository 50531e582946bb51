import { configureGlobal } from "fast-check";
import { SEED } from "./runs.ts";

// Nothing of the developer's own machine may reach a test: settings come from arguments only.
for (const name of Object.keys(process.env)) {
  if (name.startsWith("KB_") && !name.startsWith("KB_TEST_")) delete process.env[name];
}

if (SEED !== undefined) configureGlobal({ seed: SEED });
