import { createContext, use } from "react";
import type { Session } from "#api/session.ts";

/** The signed-in person, within the shell. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The signed-in person, the workspace and the role. Only within the shell. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error("useSession belongs below the shell.");
  return session;
}
