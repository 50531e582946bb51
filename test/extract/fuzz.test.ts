import { describeFuzz } from "./fuzz.suite.ts";

describeFuzz({ count: 8, hasHostile: false });
