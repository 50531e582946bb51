import { createContext, use } from "react";
import type { Session } from "#api/session.ts";

/** The signed-in person, below the shell. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Who is signed in, where, and as what. Only below the shell. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error("useSession belongs below the shell.");
  return session;
}
