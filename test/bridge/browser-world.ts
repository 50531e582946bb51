import { makeWorld, type FakeWorld } from "../cli/fakes.ts";
import type { StandIn } from "../cli/stand-in.ts";

/** A person whose browser answers every address that it is asked to open, as the server's pages would. */
export function makeBrowserWorld(server: StandIn): FakeWorld {
  const world = makeWorld({ env: { DISPLAY: ":0" }, now: Date.now() });
  const openUrl = async (address: string): Promise<boolean> => {
    void server.visit(address);
    return true;
  };
  world.real = { fetch: globalThis.fetch, openUrl };
  return world;
}
