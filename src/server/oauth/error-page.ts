/**
 * The page for a request that can't be answered by going back to the client: nobody knows whether the client is who it
 * says. No style and no script, so that the strictest policy holds.
 */
export function errorPage(error: string, description: string | undefined): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>This request can't be answered</title></head>
<body>
<h1>This request can't be answered</h1>
<p>An app sent you here with a request that is not valid. Go back to it and start again.</p>
<p><code>${escapeHtml(error)}</code> ${escapeHtml(description ?? "")}</p>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
