"""Lists and calls all four tools with the Python package mcp, version 1 or 2.

Arguments: kbId, then URL and token of the server, or the command line of the bridge (its settings from the environment).
"""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

try:  # version 2
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    def open_url(url: str, headers: dict[str, str]):
        return streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))
except ImportError:  # version 1
    from mcp.client.streamable_http import streamablehttp_client

    def open_url(url: str, headers: dict[str, str]):
        return streamablehttp_client(url, headers=headers)


def connect(target: list[str]):
    if target[0].startswith("http"):
        url, token = target
        return open_url(url, {"Authorization": f"Bearer {token}"})
    command, *args = target
    return stdio_client(StdioServerParameters(command=command, args=args, env=dict(os.environ)))


async def main(kb_id: str, *target: str) -> None:
    async with connect(list(target)) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            assert len(tools) == 4, tools
            calls = [
                ("kb_search", {"query": "ledger"}, kb_id),
                ("kb_search_entities", {"query": "anna"}, "Anna Kowalska"),
                ("kb_get_entity_context", {"entity": "Anna Kowalska"}, kb_id),
                ("kb_get_file_content", {"kbId": kb_id}, "> The ledger closes on Friday."),
            ]
            for name, arguments, expected in calls:
                result = await session.call_tool(name, arguments)
                is_error = getattr(result, "is_error", None) or getattr(result, "isError", None)
                assert not is_error and expected in result.content[0].text, result
            print("all four tools")


asyncio.run(main(*sys.argv[1:]))
