/** Why a request to a server got no answer. `not_sent`: nothing reached the server, so any request can be retried safely. */
export interface NetworkFailure {
  kind: "not_sent" | "dropped" | "tls" | "timed_out" | "other";
  /** In words, without a full stop: "connection refused". */
  why: string;
}

/** Interprets an error thrown by `fetch`. Codes are Node's and undici's; anything unknown is `other` with its own text. */
export function readNetworkFailure(error: unknown): NetworkFailure {
  const { code, message } = deepest(error);
  const known = KNOWN[code];
  if (known !== undefined) return known;
  if (TLS.test(code)) return { kind: "tls", why: `its certificate is not trusted (${code})` };
  return { kind: "other", why: message };
}

const KNOWN: Record<string, NetworkFailure> = {
  ECONNREFUSED: { kind: "not_sent", why: "connection refused" },
  ENOTFOUND: { kind: "not_sent", why: "the host name is not known" },
  EAI_AGAIN: { kind: "not_sent", why: "the host name could not be looked up" },
  EHOSTUNREACH: { kind: "not_sent", why: "no route to the host" },
  ENETUNREACH: { kind: "not_sent", why: "the network is not reachable" },
  UND_ERR_CONNECT_TIMEOUT: { kind: "not_sent", why: "the connection timed out" },
  ETIMEDOUT: { kind: "timed_out", why: "the connection timed out" },
  ECONNRESET: { kind: "dropped", why: "the connection was reset" },
  EPIPE: { kind: "dropped", why: "the connection was closed" },
  UND_ERR_SOCKET: { kind: "dropped", why: "the connection was closed before the answer was complete" },
  UND_ERR_HEADERS_TIMEOUT: { kind: "timed_out", why: "the request timed out" },
  UND_ERR_BODY_TIMEOUT: { kind: "timed_out", why: "the answer stopped coming" },
  EPROTO: { kind: "tls", why: "the server does not use TLS at this address; try http:// for a local server" },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    kind: "tls",
    why: "the server does not use TLS at this address; try http:// for a local server",
  },
};

const TLS = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL/;

function deepest(error: unknown): { code: string; message: string } {
  let code = "";
  let message = String(error);
  let current = error;
  // fetch wraps: TypeError "fetch failed" → cause → (AggregateError →) the socket's error.
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    message = current.message === "" ? message : current.message;
    if ("code" in current && typeof current.code === "string") code = current.code;
    current = current instanceof AggregateError && current.errors.length > 0 ? current.errors[0] : current.cause;
  }
  return { code, message };
}
