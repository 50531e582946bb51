import { configureGlobal, readConfigureGlobal } from "fast-check";

// A property that a mutant fails needs no smallest example.
configureGlobal({ ...readConfigureGlobal(), endOnFailure: true });
