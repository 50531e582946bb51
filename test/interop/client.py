"""Lists and calls all four tools with the Python package mcp, version 1 or 2. Arguments: URL, token, kbId."""

import asyncio
import sys

from mcp import ClientSession

try:  # version 2
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    def connect(url: str, headers: dict[str, str]):
        return streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))
except ImportError:  # version 1
    from mcp.client.streamable_http import streamablehttp_client

    def connect(url: str, headers: dict[str, str]):
        return streamablehttp_client(url, headers=headers)


async def main(url: str, token: str, kb_id: str) -> None:
    async with connect(url, {"Authorization": f"Bearer {token}"}) as streams:
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


asyncio.run(main(*sys.argv[1:4]))
