import { configureGlobal } from "fast-check";
import { afterEach } from "vitest";
import { SEED } from "./runs.ts";

// Nothing of the developer's own machine may reach a test: settings come from arguments only.
for (const name of Object.keys(process.env)) {
  if (name.startsWith("KB_") && !name.startsWith("KB_TEST_")) delete process.env[name];
}

if (SEED !== undefined) configureGlobal({ seed: SEED });

// Servers and host commands set it for all that they make, and tests of one process share it.
const UMASK = process.umask();
afterEach(() => void process.umask(UMASK));
