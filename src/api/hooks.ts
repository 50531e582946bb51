/** Webhooks that apps call when their data has changed. Each source authenticates them by their signature. */
import { post, z } from "./route.ts";

// Accepts any text, so that an invalid id gets the same answer as an unknown id.
const ByProvider = { providerId: z.string() };
const ByConnector = { ...ByProvider, connectorId: z.string() };
const notification = { content: { "*/*": { schema: z.string() } } } as const;
const accepted = {
  description: "Accepted; if the app sent a challenge, the body answers it",
  content: { "*/*": { schema: z.string() } },
} as const;

export const hookRoutes = {
  app: post(
    "/hooks/{providerId}",
    "Receive an app's notification for all connectors of one installation; a wrong signature returns 404",
    {
      params: ByProvider,
      body: notification,
      200: accepted,
    },
  ),
  connector: post(
    "/hooks/{providerId}/{connectorId}",
    "Receive an app's notification for one connector; a wrong signature returns 404",
    {
      params: ByConnector,
      body: notification,
      200: accepted,
    },
  ),
};
