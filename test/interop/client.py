"""Lists and calls all four tools with the Python package mcp. Arguments: URL, token, kbId."""

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def main(url: str, token: str, kb_id: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with streamablehttp_client(url, headers=headers) as (read, write, _):
        async with ClientSession(read, write) as session:
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
                assert not result.isError and expected in result.content[0].text, result
            await session.send_ping()
            print("all four tools")


asyncio.run(main(*sys.argv[1:4]))
