import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

/**
 * Removes network access from this process, permanently. Node's permission model covers files, processes, workers and
 * native code from 20 on, but the network only from 25 on. This is a second wall for parsers that follow a link in a
 * document, not one against native code of an attacker.
 */
export function sealNetwork(): void {
  net.Socket.prototype.connect = refuse;
  net.Server.prototype.listen = refuse;
  dgram.Socket.prototype.bind = refuse;
  dgram.Socket.prototype.send = refuse;
  for (const holder of [dns, dns.promises]) {
    for (const name of Object.keys(holder)) {
      if (/^(?:lookup|resolve|reverse)/u.test(name)) Object.defineProperty(holder, name, { value: refuse });
    }
  }
  syncBuiltinESMExports();
  for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"]) Reflect.deleteProperty(globalThis, name);
}

function refuse(): never {
  throw new Error("There is no network in the extraction process.");
}
