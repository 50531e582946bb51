"""A host on the package mcp or fastmcp: signs in at the URL in its second argument (the first names the package).

It prints the address to open as `AUTHORIZE …`, then answers each line `tools`, `search` or `later N` (its clock is N seconds
ahead from then on) with a line of JSON.
"""

import asyncio
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

package, url = sys.argv[1:]


def say(line: str) -> None:
    print(line, flush=True)


def text_of(result) -> str:
    return json.dumps([getattr(part, "text", "") for part in result.content])


def move_clock(seconds: float) -> None:
    real = time.time
    time.time = lambda: real() + seconds


async def answer_lines(tools, search) -> None:
    say("READY")
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        try:
            if line.startswith("later"):
                move_clock(float(line.split()[1]))
                value = ""
            else:
                value = await (tools() if line == "tools" else search())
            say(json.dumps({"value": value}))
        except Exception as error:
            say(json.dumps({"error": repr(error)}))


class Callback(HTTPServer):
    """Listens for the browser that is sent back."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = {}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.answer = parse_qs(urlsplit(self.path).query)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Memory:
    """What a host keeps of a sign-in."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def use_mcp() -> None:
    from mcp import ClientSession
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    callback = Callback()

    async def redirect(address: str) -> None:
        say(f"AUTHORIZE {address}")

    async def wait():
        await asyncio.to_thread(callback.handle_request)
        values = {key: value[0] for key, value in callback.answer.items()}
        try:  # version 2
            from mcp.client.auth import AuthorizationCodeResult
        except ImportError:  # version 1
            return values["code"], values.get("state")
        return AuthorizationCodeResult(code=values["code"], state=values.get("state"), iss=values.get("iss"))

    metadata = OAuthClientMetadata(
        client_name="Python host",
        redirect_uris=[f"http://127.0.0.1:{callback.server_port}/callback"],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
    )
    auth = OAuthClientProvider(
        server_url=url,
        client_metadata=metadata,
        storage=Memory(),
        redirect_handler=redirect,
        callback_handler=wait,
    )
    try:  # version 2
        from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

        connection = streamable_http_client(url, http_client=create_mcp_http_client(auth=auth))
    except ImportError:  # version 1
        from mcp.client.streamable_http import streamablehttp_client

        connection = streamablehttp_client(url, auth=auth)
    async with connection as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()

        async def tools():
            return [tool.name for tool in (await session.list_tools()).tools]

        async def search():
            return text_of(await session.call_tool("kb_search", {"query": "ledger"}))

        await answer_lines(tools, search)


async def use_fastmcp() -> None:
    from fastmcp import Client
    from fastmcp.client.auth import OAuth

    class Host(OAuth):
        async def redirect_handler(self, authorization_url: str) -> None:
            say(f"AUTHORIZE {authorization_url}")

    async with Client(url, auth=Host(url)) as client:

        async def tools():
            return [tool.name for tool in await client.list_tools()]

        async def search():
            return text_of(await client.call_tool("kb_search", {"query": "ledger"}))

        await answer_lines(tools, search)


asyncio.run(use_fastmcp() if package == "fastmcp" else use_mcp())
