import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

/**
 * Removes network access from this process, permanently. Node's permission model restricts files, processes, workers and native code since version
 * 20, but the network only since version 25. This additional measure stops parsers that follow a link in a document; it doesn't stop an attacker's
 * native code.
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
