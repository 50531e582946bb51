import { createHash } from "node:crypto";
import { cleanLine } from "#api/clean.ts";
import type { ApiError } from "#api/errors.ts";

/** A failed request in OAuth's terms, and its client if known. */
export interface FailedRequest {
  error: string;
  description: string | undefined;
  /** The name that the client reports, unverified. */
  clientName: string | undefined;
}

/** A page without scripts and links. Its content security policy allows only its one style sheet, by hash. */
export interface ErrorPage {
  html: string;
  policy: string;
}

/**
 * Makes the page for a request whose error can't be sent to the client by a redirect, because the client isn't
 * verified. It looks like the sign-in cards, and every text in it is escaped.
 */
export function errorPage({ error, description, clientName }: FailedRequest): ErrorPage {
  const client = clientName === undefined ? "" : cleanLine(clientName, MAX_NAME_CHARS);
  const who = client === "" ? "An app" : `<strong>${escapeHtml(client)}</strong>`;
  return pageOf(`<p>${who} sent an invalid request${REASONS[error] ?? ""}. Nothing was shared.</p>
<p>Go back to the app and start again. If that doesn't help, send this message to the app's developer:</p>
<pre><code>${escapeHtml(error)}${description === undefined ? "" : `: ${escapeHtml(description)}`}</code></pre>`);
}

type Refusal = Pick<ApiError, "code" | "message" | "retryAfterMs">;

/** Makes the same page for requests that this server refuses or can't answer, for any client. */
export function refusalPage(failure: Refusal, requestId: string): ErrorPage {
  const { code, message, retryAfterMs } = failure;
  const seconds = retryAfterMs === undefined ? 0 : Math.ceil(retryAfterMs / 1000);
  const wait = seconds === 0 ? "" : ` in ${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  return pageOf(`<p>${escapeHtml(message)}</p>
<p>Nothing was shared with the app. Go back to the app and start again${wait}. If that doesn't help, send this message to your admin:</p>
<pre><code>${escapeHtml(code)} (request ${escapeHtml(requestId)})</code></pre>`);
}

function pageOf(text: string): ErrorPage {
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>This app can't connect · kb</title><style>${STYLE}</style></head>
<body>
<header><svg aria-hidden="true" width="28" height="28" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5a52"/><path d="M9 7v18M9 17.5l6.5-6.5M11.8 15l5.2 10" fill="none" stroke="#fff" stroke-width="2.8" stroke-linecap="round" stroke-linejoin="round"/><circle cx="22.3" cy="11.5" r="3.6" fill="none" stroke="#9fe0d0" stroke-width="2.4"/><path d="M25 14.2l2.5 2.5" stroke="#9fe0d0" stroke-width="2.4" stroke-linecap="round"/></svg>kb</header>
<main>
<h1>This app can't connect</h1>
${text}
</main>
</body>
</html>
`;
  const hash = createHash("sha256").update(STYLE).digest("base64");
  return { html, policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; frame-ancestors 'none'` };
}

const MAX_NAME_CHARS = 80;

/** Explanations of the common errors, for people. */
const REASONS: Readonly<Record<string, string>> = {
  invalid_redirect_uri: ": its redirect address isn't registered",
  invalid_client: ": this server doesn't know the app",
};

/** The colours and sizes of the sign-in cards. The system decides between light and dark. */
const STYLE =
  ":root{color-scheme:light dark}" +
  'body{margin:0;min-width:320px;padding:2rem 1rem;background:light-dark(#f6f6f3,#121413);color:light-dark(#1a1d1c,#e8ebe9);font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;display:flex;flex-direction:column;align-items:center;box-sizing:border-box}' +
  "header{display:flex;align-items:center;gap:.5rem;margin-bottom:1.5rem;font-size:18px;font-weight:600}" +
  "main{box-sizing:border-box;width:100%;max-width:24rem;padding:1.25rem 1.5rem;background:light-dark(#fff,#191c1b);border:1px solid light-dark(#e2e2dd,#2b302e);border-radius:12px;overflow-wrap:anywhere}" +
  "h1{margin:0 0 .25rem;font-size:18px;line-height:1.5}" +
  "p{margin:0 0 .75rem;color:light-dark(#5a5f5c,#a4aba7)}strong{color:light-dark(#1a1d1c,#e8ebe9)}" +
  "pre{margin:0;padding:.6rem .75rem;background:light-dark(#f1f1ed,#101211);border:1px solid light-dark(#e2e2dd,#2b302e);border-radius:6px;white-space:pre-wrap;font:13px/1.6 ui-monospace,monospace}" +
  "@media(min-width:640px){body{padding-top:3.5rem}}";

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
