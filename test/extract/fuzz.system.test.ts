import { describeFuzz } from "./fuzz.suite.ts";

describeFuzz({ count: 35, hasHostile: true });
