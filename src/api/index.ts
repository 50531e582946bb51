/** Every route of the contract, by feature. Each file appends its group here; the OpenAPI document is made from it. */
import { operationRoutes } from "./operations.ts";

export const ROUTE_GROUPS = {
  operations: operationRoutes,
} as const;
